import { errorText } from '../util/error-text.ts';

/** What helps where the system refuses a file, a folder or a connection, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use it: name another one, or give this user the right to it',
  EPERM: 'this user may not use it: name another one, or give this user the right to it',
  EROFS: 'its file system is read-only: name another one',
  ENOSPC: 'no space is left on its disk: free some, or name another one',
  ENOENT: 'there is no such file or folder: make it, or name another one',
  EEXIST: 'something else has this name already: name another one, or remove it',
  ENOTDIR: 'a part of this path is a file, and no folder: name another one',
  EISDIR: 'it is a folder, and a file is needed: name another one',
  EADDRINUSE: 'another program has this port: stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine has no such address: name another one',
  ECONNREFUSED: 'nothing answers there: start it, or correct the address',
  ENOTFOUND: 'no address is known for this name: correct it',
  EAI_AGAIN: 'names are not resolved at the moment: look at DNS, or give an address',
};

/** The error of a system call, such as one of node:fs. */
interface Refusal {
  readonly message: string;
  readonly code: string;
  /** `/data`, `127.0.0.1:5432`, `db.example.com` */
  readonly place: string;
}

/**
 * One line for the terminal, which says what to change where the system refused something. The messages of other errors are
 * returned as they are.
 *
 *     EACCES: permission denied, mkdir '/data'
 *     /data: this user may not use it: name another one, or give this user the right to it
 *
 * `text`: what is said of the error otherwise.
 */
export function explainRefusal(error: unknown, text = errorText(error)): string {
  // A name with several addresses is tried at each, and the error of all has no message.
  if (error instanceof AggregateError)
    return [...new Set(error.errors.map((one) => explainRefusal(one)))].join('; ');
  const refusal = findRefusal(error);
  const advice = ADVICE[refusal?.code ?? ''];
  if (refusal === undefined || advice === undefined || !text.includes(refusal.message)) return text;
  const isNamed = text.replace(refusal.message, '').includes(refusal.place);
  return text.replace(refusal.message, () => (isNamed ? advice : `${refusal.place}: ${advice}`));
}

/** That of the error, or of what caused it. */
function findRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const place = placeOf(error);
  if (!('code' in error) || typeof error.code !== 'string' || place === undefined)
    return findRefusal(error.cause);
  return { message: error.message, code: error.code, place };
}

function placeOf(error: Error): string | undefined {
  if ('path' in error && typeof error.path === 'string') return error.path;
  if ('address' in error && 'port' in error) return `${error.address}:${error.port}`;
  return 'hostname' in error && typeof error.hostname === 'string' ? error.hostname : undefined;
}
