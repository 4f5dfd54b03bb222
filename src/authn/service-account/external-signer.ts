import { createPublicKey } from 'node:crypto';
import protobuf from 'protobufjs/minimal.js';
import { readFields } from '../../codec/protobuf/read-fields.ts';
import { GrpcSocket } from '../../outbound/grpc-socket.ts';
import { errorText } from '../../util/error-text.ts';
import { keepDoing, pause } from '../../util/pause.ts';
import type { VerificationKey } from '../jws.ts';
import { toVerificationKey } from './key-ring.ts';
import type { SignerMetrics } from './signer-metrics.ts';

interface ExternalSignerOptions {
  /** --service-account-signing-endpoint: a path, or `@name` in the abstract namespace of Linux. */
  readonly socket: string;
  /** The version of the service: `v1`, or `v1alpha1` in Kubernetes 1.32 and 1.33. */
  readonly version: 'v1' | 'v1alpha1';
  readonly onError: (error: unknown) => void;
  readonly metrics: SignerMetrics;
}

interface ExternalKey extends VerificationKey {
  /** It verifies old tokens alone, and is not published. */
  readonly isHidden: boolean;
}

/** How long a call may take, and how long the start waits for the signer to listen. Kubernetes' figure for keys. */
const TIMEOUT_MS = 60_000;
/** When keys could not be fetched, these are tried again after this time. */
const RETRY_MS = 10_000;
const MIN_EXPIRATION_SECONDS = 600;
const MAX_ID_LETTERS = 1024;
const NOTHING = Buffer.alloc(0);

/**
 * The signer of service account tokens in another program (the feature ExternalServiceAccountTokenSigner; k8s.io/externaljwt). It has
 * the private keys; this server knows the public ones, which it fetches as often as the signer asks for and whenever a token
 * names an unknown one.
 */
export class ExternalSigner {
  readonly #options: ExternalSignerOptions;
  readonly #grpc: GrpcSocket;
  #keys: readonly ExternalKey[] = [];
  #published: readonly VerificationKey[] = [];
  #refreshMs = RETRY_MS;
  #fetching: Promise<void> | undefined;
  #maxExpirationSeconds = 0;

  /** @throws Error when the signer cannot be asked, or answers wrongly */
  static async open(options: ExternalSignerOptions): Promise<ExternalSigner> {
    const signer = new ExternalSigner(options);
    const metadata = await signer.#call('Metadata', NOTHING, true);
    signer.#maxExpirationSeconds = readExpiration(metadata);
    await signer.fetch();
    return signer;
  }

  private constructor(options: ExternalSignerOptions) {
    this.#options = options;
    this.#grpc = new GrpcSocket(options.socket.replace(/^@/, '\0'));
  }

  /** The longest life of a token that the signer signs. */
  get maxExpirationSeconds(): number {
    return this.#maxExpirationSeconds;
  }

  /** The keys of all tokens that are believed: the same list until they change. */
  get keys(): readonly VerificationKey[] {
    return this.#keys;
  }

  /** The keys that others verify tokens with. */
  get published(): readonly VerificationKey[] {
    return this.#published;
  }

  async run(signal: AbortSignal): Promise<void> {
    const fetchLater = async (): Promise<void> => {
      await pause(this.#refreshMs, signal);
      if (!signal.aborted) await this.fetch();
    };
    await keepDoing(fetchLater, signal, { retryMs: RETRY_MS, onError: this.#options.onError });
    this.#grpc.close();
  }

  /** Fetches the keys; those who ask at the same time share one call. @throws Error */
  fetch(): Promise<void> {
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchNow(): Promise<void> {
    const { metrics } = this.#options;
    const { keys, refreshSeconds, dataSeconds } = await this.#call('FetchKeys', NOTHING)
      .then(readKeys)
      .catch((error: unknown) => {
        metrics.fetchFailed(error);
        throw error;
      });
    metrics.fetched(dataSeconds);
    this.#refreshMs = refreshSeconds * 1000;
    if (stamp(keys) === stamp(this.#keys)) return;
    this.#keys = keys;
    this.#published = keys.filter(({ isHidden }) => !isHidden);
  }

  /** The token with these claims. @throws Error */
  async sign(claims: string): Promise<string> {
    const { metrics } = this.#options;
    try {
      const token = await this.#sign(claims);
      metrics.signed(undefined);
      return token;
    } catch (error) {
      metrics.signed(error);
      throw error;
    }
  }

  async #sign(claims: string): Promise<string> {
    const payload = Buffer.from(claims).toString('base64url');
    const request = protobuf.Writer.create().uint32(TEXT(1)).string(payload).finish();
    const { header, signature } = readSigned(await this.#call('Sign', Buffer.from(request)));
    const id = checkedKeyId(header);
    if (!this.#keys.some((key) => key.id === id)) await this.fetch();
    if (this.#keys.some((key) => key.id === id && key.isHidden))
      throw badHeader(`key used for signing JWT (kid: ${id}) is excluded from OIDC discovery docs`);
    if (signature === '') throw new Error('empty signature returned');
    return `${header}.${payload}.${signature}`;
  }

  async #call(method: string, request: Buffer, waits = false): Promise<Buffer> {
    const { version, metrics } = this.#options;
    const path = `/${version}.ExternalJWTSigner/${method}`;
    const begunMs = performance.now();
    const note = (error: unknown): void => metrics.called(path, performance.now() - begunMs, error);
    try {
      const answer = await this.#grpc.call(path, request, { timeoutMs: TIMEOUT_MS, waits });
      note(undefined);
      return answer;
    } catch (error) {
      note(error);
      throw new Error(`the external signer does not answer ${method}: ${errorText(error)}`, { cause: error });
    }
  }
}

/** The tag of a field with a length. */
const TEXT = (field: number): number => (field << 3) | 2;

function readExpiration(bytes: Buffer): number {
  let seconds = 0;
  readFields(bytes, (field, reader) => {
    if (field === 1) seconds = Number(reader.int64());
    return field === 1;
  });
  if (seconds >= MIN_EXPIRATION_SECONDS) return seconds;
  throw new Error(
    `max token life supported by external-jwt-signer (${seconds}s) is less than acceptable (min ${MIN_EXPIRATION_SECONDS}s)`,
  );
}

function readSigned(bytes: Buffer): { header: string; signature: string } {
  const signed = { header: '', signature: '' };
  readFields(bytes, (field, reader) => {
    if (field === 1) signed.header = reader.string();
    else if (field === 2) signed.signature = reader.string();
    else return false;
    return true;
  });
  return signed;
}

interface FetchedKeys {
  readonly keys: ExternalKey[];
  readonly refreshSeconds: number;
  /** When the signer had these keys, in Unix seconds. */
  readonly dataSeconds: number;
}

function readKeys(bytes: Buffer): FetchedKeys {
  const keys: ExternalKey[] = [];
  let refreshSeconds = 0;
  let dataSeconds: number | undefined;
  readFields(bytes, (field, reader) => {
    if (field === 1) keys.push(readKey(reader.bytes()));
    else if (field === 2) dataSeconds = readTime(reader.bytes());
    else if (field === 3) refreshSeconds = Number(reader.int64());
    else return false;
    return true;
  });
  if (refreshSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshSeconds}s)`);
  if (keys.length === 0) throw new Error('found no keys');
  if (dataSeconds === undefined) throw new Error('invalid data timestamp: it is missing');
  return { keys, refreshSeconds, dataSeconds };
}

function readTime(bytes: Uint8Array): number {
  let seconds = 0;
  let nanoseconds = 0;
  readFields(bytes, (field, reader) => {
    if (field === 1) seconds = Number(reader.int64());
    else if (field === 2) nanoseconds = reader.int32();
    else return false;
    return true;
  });
  return seconds + nanoseconds / 1e9;
}

function readKey(bytes: Uint8Array): ExternalKey {
  let id = '';
  let der: Uint8Array = NOTHING;
  let isHidden = false;
  readFields(bytes, (field, reader) => {
    if (field === 1) id = reader.string();
    else if (field === 2) der = reader.bytes();
    else if (field === 3) isHidden = reader.bool();
    else return false;
    return true;
  });
  if (id === '' || id.length > MAX_ID_LETTERS)
    throw new Error(`found invalid public key id ${JSON.stringify(id.slice(0, MAX_ID_LETTERS))}`);
  if (der.length === 0) throw new Error('found empty public key');
  const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  return { ...toVerificationKey(key), id, isHidden };
}

const stamp = (keys: readonly ExternalKey[]): string =>
  JSON.stringify(
    keys.map(({ id, key, isHidden }) => [
      id,
      key.export({ type: 'spki', format: 'der' }).toString('base64'),
      isHidden,
    ]),
  );

const ALGORITHMS = ['RS256', 'ES256', 'ES384', 'ES512'];

const badHeader = (why: string): Error => new Error(`while validating header: ${why}`);

/** The id of the key in a header, which must be as Kubernetes allows it. @throws Error */
function checkedKeyId(encoded: string): string {
  const header: Record<string, unknown> = JSON.parse(Buffer.from(encoded, 'base64url').toString());
  const unknown = Object.keys(header).find((name) => !['alg', 'kid', 'typ'].includes(name));
  if (unknown !== undefined) throw badHeader(`while parsing header JSON: json: unknown field "${unknown}"`);
  const { alg, kid, typ } = header;
  if (typ !== 'JWT') throw badHeader('bad type');
  if (typeof kid !== 'string' || kid === '') throw badHeader('key id missing');
  if (kid.length > MAX_ID_LETTERS) throw badHeader('key id longer than 1 kb');
  if (!ALGORITHMS.includes(String(alg)))
    throw badHeader(`bad signing algorithm ${JSON.stringify(alg ?? '')}`);
  return kid;
}
