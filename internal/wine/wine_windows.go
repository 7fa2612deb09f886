package wine

import "golang.org/x/sys/windows"

// Here reports whether this process runs under Wine.
func Here() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
