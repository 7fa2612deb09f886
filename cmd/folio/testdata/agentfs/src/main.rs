//! Lists the files that an overlay of AgentFS shows: `overlay DATABASE`. Opening a file of the base
//! copies it into the database, so DATABASE should be a copy.

use agentfs_sdk::{AgentFS, AgentFSOptions, FileSystem, HostFS, OverlayFS, Stats};
use std::{error::Error, sync::Arc};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// FNV-1a, as Go's hash/fnv has it.
fn hash(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf29ce484222325u64;
    for b in bytes {
        sum = (sum ^ u64::from(*b)).wrapping_mul(0x100000001b3);
    }
    sum
}

async fn content(fs: &OverlayFS, s: &Stats) -> Result<Vec<u8>> {
    if s.is_symlink() {
        return Ok(fs.readlink(s.ino).await?.unwrap_or_default().into_bytes());
    }
    if !s.is_file() {
        return Ok(Vec::new());
    }
    let file = fs.open(s.ino, 0).await?;
    Ok(file.pread(0, s.size as u64).await?)
}

#[tokio::main]
async fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or("expected DATABASE")?;
    let agent = AgentFS::open(AgentFSOptions::with_path(path)).await?;
    let base = agent.is_overlay_enabled().await?.ok_or("is no overlay")?;
    let fs = OverlayFS::new(Arc::new(HostFS::new(base)?), agent.fs.clone());
    fs.load().await?;
    let mut dirs = vec![(1i64, String::new())];
    while let Some((ino, dir)) = dirs.pop() {
        let list = match fs.readdir_plus(ino).await {
            Ok(list) => list.ok_or("no such directory")?,
            Err(e) => {
                println!("unlisted {dir}: {e}");
                continue;
            }
        };
        for e in list {
            let name = format!("{dir}/{}", e.name);
            let s = fs.lookup(ino, &e.name).await?.ok_or(format!("{name}: is listed and cannot be found"))?;
            if s.is_directory() {
                dirs.push((s.ino, name.clone()));
            }
            let size = if s.is_directory() { 0 } else { s.size };
            let sum = hash(&content(&fs, &s).await?);
            println!("{:o} {} {} {} {}.{:09} {:016x} {}", s.mode, s.uid, s.gid, size, s.mtime, s.mtime_nsec, sum, name);
        }
    }
    Ok(())
}
