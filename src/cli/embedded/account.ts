import { readFileSync } from 'node:fs';

/** The account that PostgreSQL runs as. It refuses to run as root, so root hands it to an account that every system has. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Undefined: run it as ourselves. @throws Error when we are root and there is no account to use */
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
