// Reads and writes files of a volume by SQL: node files.mjs VOLUME
//
// Node 22.5 and later have node:sqlite. Package better-sqlite3 has the same calls for older ones.
import { createHash } from "node:crypto";

const Database = await import("node:sqlite").then((m) => m.DatabaseSync, () => import("better-sqlite3").then((m) => m.default));
const db = new Database(process.argv[2]);
db.exec("PRAGMA busy_timeout = 5000"); // other programs may write, too

// Two files or none.
db.exec("BEGIN IMMEDIATE");
db.prepare("INSERT INTO file (path, type) VALUES (?, 'dir')").run("notes");
db.prepare("INSERT INTO file (path, content, mode) VALUES (?, ?, '0600')").run("notes/a.txt", Buffer.from("first"));
db.exec("COMMIT");

db.prepare("UPDATE file SET content = ? WHERE path = ?").run(Buffer.from("hello from node"), "notes/a.txt");

for (const row of db.prepare("SELECT path, mode, size FROM file WHERE path GLOB 'notes/*' ORDER BY path").all()) {
  console.log(row.path, row.mode, row.size);
}
const { content } = db.prepare("SELECT content FROM file WHERE path = ?").get("large");
console.log(createHash("sha256").update(content).digest("hex"));

try {
  db.prepare("INSERT INTO file (path, content) VALUES (?, ?)").run("nowhere/b.txt", Buffer.from("x"));
} catch (error) {
  console.log(error.message);
}
db.close();
