import { type Cipher, createCbc, createGcm, createSecretbox } from './ciphers.ts';
import type { KeyedKind, NamedKey } from './encryption-config.ts';
import type { KeyLabel, Provider, Sealed } from './provider.ts';

const CIPHERS: Readonly<Record<KeyedKind, (key: Buffer) => Cipher>> = {
  aescbc: createCbc,
  aesgcm: createGcm,
  secretbox: createSecretbox,
};

/** KeyedProvider uses keys from the file: the first encrypts, each decrypts what names it. */
export class KeyedProvider implements Provider {
  readonly kind: KeyedKind;
  readonly prefix: string;
  readonly label: KeyLabel;
  readonly #first: Cipher;
  readonly #byName = new Map<string, Cipher[]>();

  /** `keys`: at least one. */
  constructor(kind: KeyedKind, keys: readonly NamedKey[]) {
    this.kind = kind;
    this.prefix = `k8s:enc:${kind}:v1:`;
    const ciphers = keys.map(({ name, secret }) => ({ name, cipher: CIPHERS[kind](secret) }));
    const [first] = ciphers;
    if (first === undefined) throw new Error(`${kind} has no keys`);
    this.#first = first.cipher;
    this.label = { provider: kind, key: first.name };
    for (const { name, cipher } of ciphers)
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), cipher]);
  }

  seal(plain: Buffer, context: Buffer): Sealed {
    return { label: this.label, bytes: this.#first.seal(plain, context) };
  }

  knows({ provider, key }: KeyLabel): boolean {
    return provider === this.kind && this.#byName.has(key);
  }

  /** Tries each key of that name: several may share it. */
  open({ key }: KeyLabel, sealed: Buffer, context: Buffer): Buffer {
    for (const cipher of this.#byName.get(key) ?? []) {
      try {
        return cipher.open(sealed, context);
      } catch {
        // Try the next key; the error below covers all.
      }
    }
    throw new Error(
      `it cannot be decrypted with the key ${JSON.stringify(key)} of ${this.kind}: the key is another one, or the bytes were changed or belong to another object`,
    );
  }
}
