import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Pythons that may have the package: the system's own, and the first one of the path. */
const CANDIDATES = ['/usr/bin/python3', 'python3'];

/** One that has the official client (Debian: python3-kubernetes); undefined when there is none. */
export function findPython(): string | undefined {
  return CANDIDATES.find((python) =>
    python.includes('/') && !existsSync(python) ? false : hasClient(python),
  );
}

function hasClient(python: string): boolean {
  try {
    execFileSync(python, ['-c', 'import kubernetes.dynamic'], { stdio: 'ignore', timeout: 30_000 });
    return true;
  } catch {
    return false;
  }
}
