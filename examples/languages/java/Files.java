import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.HexFormat;

/**
 * Reads and writes files of a volume by SQL:
 * mvn dependency:copy-dependencies && java -cp 'target/dependency/*' Files.java VOLUME
 */
public class Files {
  public static void main(String[] args) throws Exception {
    try (Connection db = DriverManager.getConnection("jdbc:sqlite:" + args[0])) {
      try (var statement = db.createStatement()) {
        statement.execute("PRAGMA busy_timeout = 5000"); // other programs may write, too
      }

      // Two files or none.
      db.setAutoCommit(false);
      change(db, "INSERT INTO file (path, type) VALUES (?, 'dir')", "notes");
      change(db, "INSERT INTO file (path, content, mode) VALUES (?, ?, '0600')", "notes/a.txt", "first".getBytes());
      db.commit();
      db.setAutoCommit(true);

      change(db, "UPDATE file SET content = ? WHERE path = ?", "hello from java".getBytes(), "notes/a.txt");

      try (var list = db.prepareStatement("SELECT path, mode, size FROM file WHERE path GLOB 'notes/*' ORDER BY path")) {
        for (var rows = list.executeQuery(); rows.next(); ) {
          System.out.println(rows.getString(1) + " " + rows.getString(2) + " " + rows.getLong(3));
        }
      }
      try (var read = db.prepareStatement("SELECT content FROM file WHERE path = ?")) {
        read.setString(1, "large");
        byte[] content = read.executeQuery().getBytes(1);
        System.out.println(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content)));
      }

      try {
        change(db, "INSERT INTO file (path, content) VALUES (?, ?)", "nowhere/b.txt", "x".getBytes());
      } catch (SQLException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  static void change(Connection db, String sql, Object... values) throws SQLException {
    try (var statement = db.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      statement.executeUpdate();
    }
  }
}
