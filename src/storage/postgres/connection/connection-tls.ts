import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import type pg from 'pg';
import type { SslMode, Target } from './connection-target.ts';
import { isUnverified } from './statements.ts';

/** Files beside the URL, which goes first. */
export interface TlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** One way to open a connection. */
export type Handshake =
  | { readonly kind: 'plain'; readonly why: string }
  | { readonly kind: 'tls'; readonly verify: Verification };

/**
 * What the certificate must satisfy. `if-possible`: nothing, but it is checked against the authorities of the system, and the
 * result reported.
 */
type Verification = 'no' | 'if-possible' | 'chain' | 'chain-and-name';

const TLS: Readonly<Record<Verification, Handshake>> = {
  no: { kind: 'tls', verify: 'no' },
  'if-possible': { kind: 'tls', verify: 'if-possible' },
  chain: { kind: 'tls', verify: 'chain' },
  'chain-and-name': { kind: 'tls', verify: 'chain-and-name' },
};

/**
 * Returns the handshakes to try, the preferred one first: by libpq's sslmode (PostgreSQL documentation, 34.19) if given. Otherwise,
 * all that leaves the machine is encrypted.
 */
export function handshakes(target: Target, files: TlsFiles): readonly Handshake[] {
  if (target.host.startsWith('/')) return [plain('it is a Unix socket')];
  const { mode } = target.tls;
  const authority = target.tls.rootCert ?? files.caFile;
  if (mode !== undefined) return byMode(mode, authority);
  if (authority !== undefined) return [TLS['chain-and-name']];
  const hasCertificate = (target.tls.cert ?? files.certFile) !== undefined;
  if (isLoopback(target.host) && !hasCertificate) return [plain('it is on loopback')];
  return [TLS['if-possible']];
}

function byMode(mode: SslMode, authority: string | undefined): readonly Handshake[] {
  switch (mode) {
    case 'disable':
      return [plain('sslmode=disable asks for it')];
    case 'allow':
      return [plain('sslmode=allow asks for it where the server takes it'), TLS.no];
    case 'prefer':
      return [TLS.no, plain('sslmode=prefer allows it, and the server takes no TLS')];
    case 'require':
      // sslrootcert makes verify-ca of it, and `system` verify-full, as in libpq.
      if (authority === 'system') return [TLS['chain-and-name']];
      return [authority === undefined ? TLS.no : TLS.chain];
    case 'verify-ca':
      return [authority === 'system' ? TLS['chain-and-name'] : TLS.chain];
    case 'verify-full':
      return [TLS['chain-and-name']];
  }
}

const plain = (why: string): Handshake => ({ kind: 'plain', why });

/** Judges by the name, which says what was meant: what it resolves to may change. */
function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i.test(host);
}

/** Files are read for each connection, so that they may be rotated. @throws Error naming a file that cannot be read */
export function tlsConfig(
  handshake: Handshake,
  target: Target,
  files: TlsFiles,
): NonNullable<pg.ClientConfig['ssl']> {
  if (handshake.kind === 'plain') return false;
  const { verify } = handshake;
  const certFile = target.tls.cert ?? files.certFile;
  const keyFile = target.tls.key ?? files.keyFile;
  return {
    ...(verify === 'no' ? {} : { ca: authorities(target.tls.rootCert ?? files.caFile) }),
    ...(certFile === undefined ? {} : { cert: readFileSync(certFile, 'utf8') }),
    ...(keyFile === undefined ? {} : { key: readFileSync(keyFile, 'utf8') }),
    rejectUnauthorized: verify === 'chain' || verify === 'chain-and-name',
    ...(verify === 'chain' ? { checkServerIdentity: () => undefined } : {}),
  };
}

let known: string[] | undefined;

/** Without a file, returns the system's and Node's own. */
function authorities(file: string | undefined): string | string[] {
  if (file !== undefined && file !== 'system') return readFileSync(file, 'utf8');
  // Node 22 has the function from its 15th minor version on.
  const read = (kind: 'default' | 'system'): readonly string[] =>
    tls.getCACertificates?.(kind) ?? tls.rootCertificates;
  known ??= [...new Set([...read('default'), ...read('system')])];
  return known;
}

/** Whether another handshake may succeed after this refusal. SQLSTATE 28000: no line of pg_hba.conf takes it. */
export function isRefusedHandshake(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return code === '28000' || /^(EPROTO$|ERR_SSL_)/.test(code) || NO_TLS.test(error.message);
}

/** `pg`'s errors when the server refuses TLS, or answers in other terms. */
const NO_TLS = /does not support SSL connections|error establishing an SSL connection/;

/** Returns the error, or one that says what to do about it. */
export function explainRefusal(error: unknown, host: string): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const explained = (text: string): Error =>
    Object.assign(new Error(text, { cause: error }), { code: 'ERR_TLS' });
  if (NO_TLS.test(error.message)) {
    return explained(
      `PostgreSQL at ${host} offers no TLS: set ssl = on there, or write sslmode=disable into the URL where the network can be trusted`,
    );
  }
  if (isUnverified(code) || code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return explained(
      `the certificate of PostgreSQL at ${host} cannot be verified (${error.message}): ` +
        'give the authority that signed it by --kvstore-cafile or sslrootcert, or write sslmode=require into the URL to do without',
    );
  }
  return error;
}

/** Describes the connection in one line for a person, with the reason. */
export function describeEncryption(
  handshake: Handshake,
  stream: unknown,
  target: Target,
  files: TlsFiles,
): string {
  const where = `the connection to PostgreSQL at ${target.host}`;
  if (!(stream instanceof tls.TLSSocket) || handshake.kind === 'plain') {
    return `${where} is plain because ${handshake.kind === 'plain' ? handshake.why : 'the driver left it so'}`;
  }
  const file = target.tls.rootCert ?? files.caFile;
  if (stream.authorized && handshake.verify !== 'no') {
    const by = file === undefined || file === 'system' ? 'the authorities of the system' : file;
    return `${where} is encrypted, and its certificate verified by ${by}`;
  }
  const why =
    handshake.verify === 'no'
      ? `sslmode=${target.tls.mode} does not ask for it`
      : `no authority was given, and none of the system's vouches for it (${String(stream.authorizationError)}); give one by --kvstore-cafile or sslrootcert`;
  return `${where} is encrypted, but its certificate is not verified because ${why}`;
}
