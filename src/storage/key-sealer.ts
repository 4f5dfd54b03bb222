import { errorText } from '../util/error-text.ts';
import { StorageError } from './errors.ts';
import type { ObjectKey } from './key.ts';
import { EncodingUnavailable, JSON_MEDIA_TYPE, type ObjectEncoding } from './object-encoding.ts';
import type { EncodedBytes } from './revision-log.ts';

/**
 * KeySealer encrypts the cluster's own keys, of its authority and of tokens, as Secrets are: they are as secret. They are stored in
 * tables of their own.
 *
 *     encrypted as application/x-encrypted; provider=aescbc; key="key1"
 *     BASE64
 */
export interface KeySealer {
  /** Returns the stored form of a key. `name` binds it: no other key can take its place. @throws Error, one line */
  seal(name: string, pem: string): Promise<string>;
  /** @throws Error, one line */
  open(name: string, stored: string): Promise<string>;
  /** Whether `seal` would now return another form. */
  isOutdated(stored: string): boolean;
}

const SECRETS = { group: '', resource: 'secrets' };
const HEAD = 'encrypted as ';

/** Collides with no Secret: those have a namespace. */
const toKey = (name: string): ObjectKey => ({ ...SECRETS, namespace: '', name: `cluster-keys/${name}` });

export function createKeySealer(encoding: ObjectEncoding | undefined): KeySealer {
  return {
    seal: async (name, pem) => {
      const plain = { bytes: Buffer.from(pem), mediaType: JSON_MEDIA_TYPE };
      const sealed = (await encoding?.encode(toKey(name), plain)) ?? plain;
      if (sealed.mediaType === JSON_MEDIA_TYPE) return pem;
      return `${HEAD}${sealed.mediaType}\n${sealed.bytes.toString('base64')}\n`;
    },
    open: async (name, stored) => {
      const sealed = parseSealed(stored);
      if (sealed === undefined) return stored;
      if (encoding?.handles(sealed.mediaType) !== true)
        throw new Error(
          `the key ${name} in the database is ${HEAD}${sealed.mediaType}: start with the --encryption-provider-config that it was written under`,
        );
      try {
        return (await encoding.decode(toKey(name), sealed)).bytes.toString();
      } catch (error) {
        const why = errorText(error);
        if (error instanceof EncodingUnavailable)
          throw new StorageError({ kind: 'unavailable', reason: `the key ${name} cannot be read: ${why}` });
        throw new Error(`the key ${name} in the database cannot be read: ${why}`, { cause: error });
      }
    },
    isOutdated: (stored) => {
      const current = encoding === undefined ? JSON_MEDIA_TYPE : encoding.formOf(SECRETS, JSON_MEDIA_TYPE);
      return current !== undefined && current !== (parseSealed(stored)?.mediaType ?? JSON_MEDIA_TYPE);
    },
  };
}

function parseSealed(stored: string): EncodedBytes | undefined {
  if (!stored.startsWith(HEAD)) return undefined;
  const [head = '', body = ''] = stored.split('\n', 2);
  return { mediaType: head.slice(HEAD.length), bytes: Buffer.from(body, 'base64') };
}
