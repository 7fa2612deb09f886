//! Reads and writes files of a volume by SQL: cargo run -- VOLUME

use rusqlite::{params, Connection};
use sha2::{Digest, Sha256};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut db = Connection::open(std::env::args().nth(1).ok_or("usage: files VOLUME")?)?;
    db.busy_timeout(Duration::from_secs(5))?; // other programs may write, too

    // Two files or none.
    let tx = db.transaction()?;
    tx.execute("INSERT INTO file (path, type) VALUES (?, 'dir')", ["notes"])?;
    tx.execute("INSERT INTO file (path, content, mode) VALUES (?, ?, '0600')", params!["notes/a.txt", b"first"])?;
    tx.commit()?;

    db.execute("UPDATE file SET content = ? WHERE path = ?", params![b"hello from rust", "notes/a.txt"])?;

    let mut list = db.prepare("SELECT path, mode, size FROM file WHERE path GLOB 'notes/*' ORDER BY path")?;
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        println!("{} {} {}", row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?);
    }
    let content: Vec<u8> = db.query_row("SELECT content FROM file WHERE path = ?", ["large"], |row| row.get(0))?;
    println!("{:x}", Sha256::digest(content));

    if let Err(error) = db.execute("INSERT INTO file (path, content) VALUES (?, ?)", params!["nowhere/b.txt", b"x"]) {
        println!("{error}");
    }
    Ok(())
}
