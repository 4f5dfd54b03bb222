/** CPU time of this thread, in milliseconds: what other processes do makes no work longer. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
