/**
 * Command lines are seen by whoever may list processes, and are shown to people who look for a mistake. Passwords in URLs are
 * hidden in them:
 *
 *     --kvstore-servers=postgres://server:secret@db/cluster  →  --kvstore-servers=postgres://server:…@db/cluster
 */
export function hidePasswords(argument: string): string {
  return argument
    .split(/,(?=[a-z][a-z\d+.-]*:\/\/)/i)
    .map(hideOne)
    .join(',');
}

/** Up to the last @ before a query: a password may hold what should have been percent-encoded. */
const hideOne = (text: string): string =>
  text
    .replace(/([a-z][a-z\d+.-]*:\/\/[^:@/?]*:)[^?]*@/i, `$1${HIDDEN}@`)
    .replace(/([?&](?:password|sslpassword)=)[^&]*/gi, `$1${HIDDEN}`);

const HIDDEN = '…';
