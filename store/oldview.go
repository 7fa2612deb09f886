package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// oldStatements are the SHA-256 of statements that earlier builds of version 1 have made: view file
// and its triggers, and view file_at, each as it is with clones and without.
var oldStatements = []string{
	"ff3dffcdbdc58ce1eb46c2ed4fcd5eeef763afa099c5b0eb4be8617a5d8cd057", // file, which had no triggers then
	"15bb64314914c6241cc71d7a076cd291fbb6c15c999e5b8f36378f5db44d8e4f", // file
	"63a5b6b0d8c5d49d267f3188122d1a31377a9e1eb0189bec0c4d5bbcc5baa45d", // file, with a path that a number could become
	"5c8c36cf8e11def37ff2d01e343a2d6bb6c4795ed90f7a03c1678e6be55b4094", // file, with clones
	"af938f97e5c19e2a90a01dcea536441e1388b12ae5599bf8bfd7acf8d3aaa5b5", // file, with clones, and such a path
	"6b14b2a064dd5757c653d603582b3f5e9ab41f0d9afdb55a2d82528ee96592f3", // file_insert
	"e0dad80b8f165886878d21bac5723d00deb2db2d5f79575e393be23c2cd5406e", // file_make_insert
	"b0c2e25ca41e0cc55eb512aba76b3b95521230350173e73ce4e2cb91902277d6", // file_update
	"0f9b073f2cbdda336a80fbe5258920f7705acb1ff481563b306e8f2671a98e00", // file_move_insert
	"d06af14642c8a2154c43e4fed8b0c83ada90685024d4f976859139bcfdc54f62", // file_change_insert
	"2867aa95c8e4790e1eb57f69b9d922289fe4ba490bc9d0a386fbf9f1bb55e825", // file_change_insert, with clones
	"e2e16ae21e9e004858755e372b44df92f6bd2256b4598dbb922dfd41cdf1323b", // file_delete
	"9c22bcb3c926ecb04170d7c040ae8b75865a639be0e088d9554ea0f9835efeee", // file_at
	"0dec2c78d58fb0bd0cc01a7ff947fa115e24781892bf2d92dd0e5b4190ac5890", // file_at, with clones
}

// IsOldStatement reports whether a statement made a view or a trigger of volumes of earlier builds
// of version 1, and that of the same name has another text now.
func IsOldStatement(sql string) bool {
	sum := sha256.Sum256([]byte(sql))
	return slices.Contains(oldStatements, hex.EncodeToString(sum[:]))
}
