/** Flags that `pg-apiserver start` adds: a server on a laptop serves its owner only, with the strictness of a cluster's. */
export function usualFlags(given: readonly string[]): string[] {
  const isGiven = (...names: readonly string[]): boolean =>
    given.some((argument) => names.includes(argument.replace(/^--?/, '').replace(/=.*$/s, '')));
  return [
    ...(isGiven('bind-address') ? [] : ['--bind-address=127.0.0.1']),
    // Only these two select authorizers. Other flags of authorization configure them.
    ...(isGiven('authorization-mode', 'authorization-config') ? [] : ['--authorization-mode=Node,RBAC']),
    // Lists add up: plugins that were enabled by flags stay enabled.
    ...(disables(given, 'NodeRestriction') ? [] : ['--enable-admission-plugins=NodeRestriction']),
  ];
}

function disables(given: readonly string[], plugin: string): boolean {
  return given.some((argument, at) => {
    const [, inline] = /^--?disable-admission-plugins(?:=(.*))?$/s.exec(argument) ?? [undefined, null];
    if (inline === null) return false;
    return (inline ?? given[at + 1] ?? '').split(',').some((name) => name.trim() === plugin);
  });
}
