import { readFileSync } from 'node:fs';

/** The account that runs PostgreSQL. PostgreSQL refuses to run as root, so root uses an account that every system has. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Undefined: use the current account. @throws Error for root without a suitable account */
export function postgresAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no account "postgres" or "nobody" to run it as',
  );
}
