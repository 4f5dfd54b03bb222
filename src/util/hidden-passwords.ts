/**
 * Hides passwords in the URLs of a command line, which logs and debug pages show:
 *
 *     --kvstore-servers=postgres://server:secret@db/cluster  →  --kvstore-servers=postgres://server:…@db/cluster
 */
export function hidePasswords(argument: string): string {
  return argument
    .split(/,(?=[a-z][a-z\d+.-]*:\/\/)/i)
    .map(hideOne)
    .join(',');
}

/** Up to the last @ before a query: a password may hold characters that should have been percent-encoded. */
const hideOne = (text: string): string =>
  text
    .replace(/([a-z][a-z\d+.-]*:\/\/[^:@/?]*:)[^?]*@/i, `$1${HIDDEN}@`)
    .replace(/([?&](?:password|sslpassword)=)[^&]*/gi, `$1${HIDDEN}`);

const HIDDEN = '…';
