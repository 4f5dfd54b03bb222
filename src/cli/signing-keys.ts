import { parseSigningKey } from '../authn/service-account/key-ring.ts';
import { UsageError } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { openEncryption } from '../server/encryption.ts';
import { createKeySealer } from '../storage/key-sealer.ts';
import { type DatabaseSetup, setUpDatabase } from '../storage/postgres/setup.ts';
import type { SigningKeyChanges } from '../storage/postgres/shared/signing-keys.ts';
import type { StoredSigningKey } from '../storage/signing-keys.ts';
import { parseDuration } from '../util/duration.ts';
import { databaseConnection, databaseOf, isOld, OLD_DATABASE } from './database.ts';
import { createServiceAccountKey } from './service-account-key.ts';

/**
 * Commands for the keys of service account tokens. Running servers follow them within seconds. They ignore the keys of
 * --service-account-signing-key-file.
 */

/** Long enough for every server to learn a key before it signs. */
const SIGN_AFTER = '5s';
/** The shortest prefix that may name a key. */
const MIN_PREFIX = 6;

/**
 * `rotate-signing-key [after]`: makes a key that signs from then on (`1h`; default 5s). Tokens of earlier keys stay valid.
 * @throws Error with a message of one line
 */
export async function rotateSigningKey(words: readonly string[], options: ServerOptions): Promise<void> {
  const [after = SIGN_AFTER, ...rest] = words;
  const delayMs = parseDuration(after);
  if (delayMs === undefined || rest.length > 0) {
    throw new UsageError(
      `rotate-signing-key: ${JSON.stringify(words.join(' '))} must be one duration, such as 5s or 1h: when the new key begins to sign`,
    );
  }
  await change(options, async (keys) => keys.add(await createServiceAccountKey(), delayMs));
}

/** `drop-signing-key <id>`: its tokens are refused from then on. @throws Error with a message of one line */
export async function dropSigningKey(words: readonly string[], options: ServerOptions): Promise<void> {
  const [prefix = '', ...rest] = words;
  if (prefix.length < MIN_PREFIX || rest.length > 0) {
    throw new UsageError(
      `drop-signing-key needs one key id, or its first ${MIN_PREFIX} characters or more; list-signing-keys shows them`,
    );
  }
  await change(options, (keys) => keys.drop((stored) => choose(stored, prefix)));
}

/** `list-signing-keys`. @throws Error with a message of one line */
export async function listSigningKeys(words: readonly string[], options: ServerOptions): Promise<void> {
  if (words.length > 0) throw new UsageError('list-signing-keys takes flags alone');
  await change(options, async () => {});
}

function choose(stored: readonly StoredSigningKey[], prefix: string): StoredSigningKey {
  const [found, ...others] = stored.filter((key) => idOf(key).startsWith(prefix));
  if (found === undefined) throw new Error(`no signing key has an id that begins with ${prefix}`);
  if (others.length > 0) throw new Error(`several signing keys have ids that begin with ${prefix}`);
  if (found.signs) {
    throw new Error(
      `${idOf(found)} is the key that signs: run rotate-signing-key first, and wait until another one does`,
    );
  }
  return found;
}

/** The `kid` of tokens. */
const idOf = ({ id, pem }: StoredSigningKey): string => parseSigningKey(pem, `signing key ${id}`).id;

async function change(
  { storage }: ServerOptions,
  work: (keys: SigningKeyChanges) => Promise<void>,
): Promise<void> {
  const encryption = openEncryption(storage);
  const sealer = createKeySealer(encryption?.encoding);
  const use = async ({ signingKeys }: DatabaseSetup): Promise<void> => {
    try {
      await work(signingKeys);
      process.stdout.write(describe(await signingKeys.list()));
    } catch (error) {
      throw isOld(error) ? new Error(OLD_DATABASE) : error;
    }
  };
  const connection = databaseConnection(storage, databaseOf(storage));
  await setUpDatabase(connection, use, sealer).finally(() => encryption?.close());
}

function describe(keys: readonly StoredSigningKey[]): string {
  const signing = keys.findIndex(({ signs }) => signs);
  const lines = keys.map((key, at) => {
    const later = at > signing ? `verifies, and signs from ${key.signsFrom}` : 'verifies';
    return `${idOf(key)}  made ${key.madeAt}  ${key.signs ? 'signs' : later}\n`;
  });
  return lines.length === 0
    ? 'there is no signing key yet: the first server to start makes one\n'
    : lines.join('');
}
