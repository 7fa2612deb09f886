package runner

const exeSuffix = ".exe"
