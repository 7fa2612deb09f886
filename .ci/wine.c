// What Go 1.26 needs of Windows and Wine 8 does not have, so that tests built for Windows run there.
// .ci/run compiles this to bcryptprimitives.dll, which every Go program loads, and puts it into the
// system directory of a new Wine prefix.
//
//	x86_64-w64-mingw32-gcc -Os -s -shared -o bcryptprimitives.dll wine.c -ladvapi32
#include <windows.h>
#include <winternl.h>
#include <string.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG); // RtlGenRandom

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return SystemFunction036(p, (ULONG)n); }

// os.RemoveAll removes a file by FileDispositionInformationEx, and falls back to an older way if the
// system says that it does not support that. Wine 8 says that it does not implement it.
#define NOT_IMPLEMENTED ((NTSTATUS)0xC0000002)
#define NOT_SUPPORTED ((NTSTATUS)0xC00000BB)

typedef NTSTATUS(NTAPI *setter)(HANDLE, PIO_STATUS_BLOCK, PVOID, ULONG, ULONG);

static setter original;

static NTSTATUS NTAPI set(HANDLE h, PIO_STATUS_BLOCK io, PVOID info, ULONG n, ULONG class)
{
	NTSTATUS status = original(h, io, info, n, class);
	return status == NOT_IMPLEMENTED ? NOT_SUPPORTED : status;
}

// DllMain puts set in place of NtSetInformationFile. That is a system call in 32 bytes that can stand
// anywhere: a copy of them is the original.
BOOL WINAPI DllMain(HINSTANCE dll, DWORD reason, LPVOID reserved)
{
	BYTE jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; // mov rax, set; jmp rax
	void *to = (void *)set;
	DWORD old;
	if (reason != DLL_PROCESS_ATTACH)
		return TRUE;
	BYTE *code = (BYTE *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
	BYTE *copy = VirtualAlloc(NULL, 32, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
	if (!code || !copy || !VirtualProtect(code, sizeof jump, PAGE_EXECUTE_READWRITE, &old))
		return FALSE;
	memcpy(copy, code, 32);
	original = (setter)copy;
	memcpy(jump + 2, &to, sizeof to);
	memcpy(code, jump, sizeof jump);
	return TRUE;
}
