/** The arenas of glibc's allocator, in place of 8 for each processor: a run with many threads then holds far less memory. */
const ARENAS = '2';

/**
 * Starts this program anew with `MALLOC_ARENA_MAX`, unless that is set: glibc reads the variable only as a process begins. The process stays
 * the same.
 */
export const withFewArenas = (): void => {
  const { platform, env, execPath, execArgv, argv } = process;
  if (platform !== 'linux' || env.MALLOC_ARENA_MAX !== undefined) return;
  process.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, MALLOC_ARENA_MAX: ARENAS });
};
