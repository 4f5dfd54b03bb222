import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { getOrAdd } from '../../util/get-or-add.ts';
import { pause } from '../../util/pause.ts';
import { EncodingUnavailable } from '../object-encoding.ts';
import { EncryptionMetrics } from './encryption-metrics.ts';
import type { KmsClient } from './kms-client.ts';
import {
  decodeEnvelope,
  type EncryptedSeed,
  encodeEnvelope,
  encodeSeed,
  type KmsStatus,
} from './kms-messages.ts';
import type { KeyLabel, Provider, Sealed } from './provider.ts';
import { SeedKeys } from './seed-keys.ts';

/** Kubernetes' intervals between polls, while the plugin is well and while it is not. */
const POLL_MS = 60_000;
const POLL_UNWELL_MS = 10_000;
/** How long a key may encrypt after the plugin was last well. */
const WRITES_FOR_MS = 3 * 60_000;
/** Pause after a failed decryption, so that queued reads fail at once. */
const REST_MS = 1000;
/** One for each plugin key and server start with objects in the database. */
const MAX_SEEDS = 10_000;
const SEED_BYTES = 32;
const MAX_KEY_ID_BYTES = 1024;
const MAX_SEED_BYTES = 1024;
const MAX_ANNOTATION_BYTES = 32 * 1024;

interface KmsProviderOptions {
  readonly name: string;
  readonly client: KmsClient;
  readonly now?: () => number;
  readonly metrics?: EncryptionMetrics;
  /** Called when an unhealthy plugin is well again. */
  readonly onRecovery?: () => void;
}

/** The seed a server writes with, plain and as the plugin has encrypted it. */
interface WriteSeed extends EncryptedSeed {
  readonly seed: Buffer;
  /** For the envelopes of its writes. */
  readonly encoded: Uint8Array;
  readonly label: KeyLabel;
  readonly expiresMs: number;
}

/**
 * KmsProvider encrypts by a plugin, called once per key rather than per object (Kubernetes: KMS v2 with seeds). A server makes a
 * seed, has the plugin encrypt it, and derives keys from it. Every object is stored with the encrypted seed; a server that reads it
 * has the plugin decrypt an unknown seed, once.
 */
export class KmsProvider implements Provider {
  readonly kind = 'kms';
  readonly name: string;
  readonly prefix: string;
  readonly #metrics: EncryptionMetrics;
  readonly #client: KmsClient;
  readonly #now: () => number;
  readonly #onRecovery: () => void;
  readonly #seeds = new LRUCache<string, Buffer>({ max: MAX_SEEDS });
  readonly #keys = new SeedKeys();
  readonly #asked = new Map<string, Promise<Buffer>>();
  #current: WriteSeed | undefined;
  #refreshing: Promise<void> | undefined;
  /** Why the plugin was not well when last asked; undefined when it was. */
  #trouble: Error | undefined = new EncodingUnavailable('it was not asked yet');
  #askedMs = Number.NEGATIVE_INFINITY;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: KmsProviderOptions) {
    const { name, client, now = Date.now, onRecovery = () => {} } = options;
    this.name = name;
    this.prefix = `k8s:enc:kms:v2:${name}:`;
    this.#metrics = options.metrics ?? new EncryptionMetrics();
    this.#client = client;
    this.#now = now;
    this.#onRecovery = onRecovery;
  }

  get label(): KeyLabel | undefined {
    return this.#current?.label;
  }

  seal(plain: Buffer, context: Buffer): Sealed | Promise<Sealed> {
    const current = this.#current;
    if (current !== undefined && current.expiresMs > this.#now()) return this.#seal(current, plain, context);
    return this.#sealLater(plain, context);
  }

  knows({ provider, plugin }: KeyLabel): boolean {
    return provider === this.kind && plugin === this.name;
  }

  open(_: KeyLabel, sealed: Buffer, context: Buffer): Buffer | Promise<Buffer> {
    const envelope = decodeEnvelope(sealed);
    this.#metrics.keyUsed('from_storage', this.name, envelope.keyId);
    let id: string | undefined;
    const seedOf = (): Buffer | Promise<Buffer> => {
      id = idOf(envelope);
      return this.#seeds.get(id) ?? this.#ask(id, envelope);
    };
    return this.#keys.open(envelope.data, context, seedOf, (seed) => {
      if (id !== undefined) this.#keep(id, seed);
    });
  }

  /** Asks for the plugin's status, and for an encrypted seed when its key has changed. Concurrent calls share one. Never rejects. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh()
      .then(
        () => this.#note(undefined),
        (error: unknown) => this.#note(error instanceof Error ? error : new Error(String(error))),
      )
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** Checks the plugin, asking again if the last status is too old. @throws Error that names the plugin */
  async assertWell(maxAgeMs: { readonly well: number; readonly unwell: number }): Promise<void> {
    const ageMs = this.#now() - this.#askedMs;
    if (ageMs >= (this.#trouble === undefined ? maxAgeMs.well : maxAgeMs.unwell)) await this.refresh();
    if (this.#trouble !== undefined) throw this.#trouble;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.refresh();
      await pause(this.#trouble === undefined ? POLL_MS : POLL_UNWELL_MS, signal);
    }
    this.close();
  }

  close(): void {
    this.#client.close();
  }

  async #refresh(): Promise<void> {
    const status = await this.#client.status();
    this.#noteKey(status.keyId);
    assertWell(this.name, status);
    const expiresMs = this.#now() + WRITES_FOR_MS;
    const current = this.#current;
    if (current?.keyId === status.keyId) {
      this.#current = { ...current, expiresMs };
      return;
    }
    const seed = this.#metrics.generations.measure(() => randomBytes(SEED_BYTES));
    const encrypted = await this.#client.encrypt(seed);
    assertSeed(this.name, encrypted);
    if (encrypted.keyId !== status.keyId)
      throw new EncodingUnavailable(
        `the KMS plugin ${this.name} encrypts with the key ${JSON.stringify(shortened(encrypted.keyId))}, and says that its key is ${JSON.stringify(status.keyId)}`,
      );
    this.#keep(idOf(encrypted), seed);
    const label = { provider: this.kind, plugin: this.name, key: encrypted.keyId };
    this.#current = { ...encrypted, seed, label, encoded: encodeSeed(encrypted), expiresMs };
  }

  #noteKey(keyId: string): void {
    const sizeBytes = Buffer.byteLength(keyId);
    if (sizeBytes === 0) this.#metrics.invalidKeyReported(this.name, 'empty');
    else if (sizeBytes > MAX_KEY_ID_BYTES) this.#metrics.invalidKeyReported(this.name, 'too_long');
    else this.#metrics.keyReported(this.name, keyId);
  }

  #keep(id: string, seed: Buffer): void {
    this.#seeds.set(id, seed);
    this.#metrics.seedsKept(this.name, this.#seeds.size);
  }

  #note(trouble: Error | undefined): void {
    const hasRecovered = trouble === undefined && this.#trouble !== undefined && this.#askedMs > 0;
    this.#trouble = trouble;
    this.#askedMs = this.#now();
    if (trouble !== undefined) return;
    this.#restsUntilMs = Number.NEGATIVE_INFINITY;
    if (hasRecovered) this.#onRecovery();
  }

  async #sealLater(plain: Buffer, context: Buffer): Promise<Sealed> {
    await this.refresh();
    const current = this.#current;
    if (current !== undefined && current.expiresMs > this.#now()) return this.#seal(current, plain, context);
    throw this.#trouble ?? new EncodingUnavailable(`the KMS plugin ${this.name} has no key`);
  }

  #seal(current: WriteSeed, plain: Buffer, context: Buffer): Sealed {
    const data = this.#keys.seal(current.seed, plain, context);
    this.#metrics.keyUsed('to_storage', this.name, current.keyId);
    return { label: current.label, bytes: encodeEnvelope(data, current.encoded) };
  }

  /** Has the plugin decrypt a seed; concurrent calls for the same one share it. */
  #ask(id: string, envelope: EncryptedSeed): Promise<Buffer> {
    return getOrAdd(this.#asked, id, () => this.#decrypt(envelope).finally(() => this.#asked.delete(id)));
  }

  async #decrypt(envelope: EncryptedSeed): Promise<Buffer> {
    if (this.#restsUntilMs > this.#now() && this.#trouble !== undefined) throw this.#trouble;
    this.#metrics.missed();
    try {
      const seed = Buffer.from(await this.#client.decrypt(envelope));
      if (seed.length < SEED_BYTES)
        throw new EncodingUnavailable(
          `the KMS plugin ${this.name} decrypts a seed into ${seed.length} bytes: it has at least ${SEED_BYTES}`,
        );
      return seed;
    } catch (error) {
      this.#note(error instanceof Error ? error : new Error(String(error)));
      this.#restsUntilMs = this.#now() + REST_MS;
      throw error;
    }
  }
}

/** Identifies a seed by all that the plugin returned. */
function idOf({ ciphertext, keyId, annotations }: EncryptedSeed): string {
  const hash = createHash('sha256');
  const add = (part: string | Uint8Array): void => {
    hash.update(`${part.length} `).update(part);
  };
  add(ciphertext);
  add(keyId);
  for (const [name, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    add(name);
    add(value);
  }
  return hash.digest('base64');
}

/** Cuts what a plugin sends: megabytes would fill log lines and health checks. */
const shortened = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`;

const MAX_SHOWN = 1024;

/** Kubernetes accepts the beta's version too. */
const VERSIONS = ['v2', 'v2beta1'];

function assertWell(name: string, { version, healthz, keyId }: KmsStatus): void {
  const wrong: string[] = [];
  if (healthz !== 'ok') wrong.push(`got unexpected healthz status: ${shortened(healthz)}`);
  if (!VERSIONS.includes(version)) wrong.push(`expected KMSv2 API version v2, got ${shortened(version)}`);
  if (keyId === '') wrong.push('expected KMSv2 KeyID to be set, got ""');
  if (Buffer.byteLength(keyId) > MAX_KEY_ID_BYTES)
    wrong.push(`its KeyID is longer than ${MAX_KEY_ID_BYTES} bytes`);
  if (wrong.length > 0)
    throw new EncodingUnavailable(`kmsv2 Provider ${name} is not healthy, error: ${wrong.join(', ')}`);
}

function assertSeed(name: string, { ciphertext, annotations }: EncryptedSeed): void {
  let annotationBytes = 0;
  for (const [key, value] of annotations) annotationBytes += Buffer.byteLength(key) + value.length;
  if (ciphertext.length === 0 || ciphertext.length > MAX_SEED_BYTES || annotationBytes > MAX_ANNOTATION_BYTES)
    throw new EncodingUnavailable(
      `the KMS plugin ${name} encrypts a seed into ${ciphertext.length} bytes with annotations of ${annotationBytes}: at most ${MAX_SEED_BYTES} and ${MAX_ANNOTATION_BYTES} can be stored, and none cannot`,
    );
}
