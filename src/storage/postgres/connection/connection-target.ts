import { userInfo } from 'node:os';

/** What a postgres:// URL names, with libpq's defaults from the environment (PostgreSQL documentation, 34.1.1 and 34.15). */
export interface Target {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Undefined when it is in a file, or none is needed. */
  readonly password: string | undefined;
  readonly passfile: string | undefined;
  readonly tls: TlsParameters;
  /** Other parameters of the URL, for the driver. */
  readonly settings: Readonly<Record<string, string>>;
}

interface TlsParameters {
  readonly mode: SslMode | undefined;
  readonly rootCert: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

export type SslMode = (typeof SSL_MODES)[number];

const DEFAULT_PORT = 5432;

/**
 * Reads a URL as libpq does, but for a password with `/` or `?` in it, which must be percent-encoded.
 * @throws Error, one line without the URL, because that may hold a password
 */
export function parseTarget(url: string, environment: NodeJS.ProcessEnv = process.env): Target {
  const [, authority = '', path = '', query = ''] =
    /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(url) ??
    fail('it must begin with postgres://');
  const at = authority.lastIndexOf('@');
  const { user, password } = parseUserInfo(authority.slice(0, Math.max(at, 0)));
  const { host, port } = parseHost(authority.slice(at + 1));
  const parameters = new Map(new URLSearchParams(query));
  const take = (name: string): string | undefined => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value === '' ? undefined : value;
  };
  const login = take('user') ?? user ?? environment.PGUSER ?? userInfo().username;
  const target = {
    host: take('host') ?? host ?? environment.PGHOST ?? 'localhost',
    port: parsePort(take('port') ?? port ?? environment.PGPORT),
    user: login,
    database: take('dbname') ?? (decode(path) || (environment.PGDATABASE ?? login)),
    password: take('password') ?? password ?? environment.PGPASSWORD,
    passfile: take('passfile') ?? environment.PGPASSFILE,
    tls: {
      mode: parseMode(take('sslmode') ?? fromSwitch(take('ssl')) ?? environment.PGSSLMODE),
      rootCert: take('sslrootcert') ?? environment.PGSSLROOTCERT,
      cert: take('sslcert') ?? environment.PGSSLCERT,
      key: take('sslkey') ?? environment.PGSSLKEY,
    },
  };
  return { ...target, settings: Object.fromEntries(parameters) };
}

function parseUserInfo(text: string): { user: string | undefined; password: string | undefined } {
  const colon = text.indexOf(':');
  const user = decode(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decode(text.slice(colon + 1));
  return { user: user || undefined, password: password || undefined };
}

/** `name`, `name:5432`, `[::1]:5432`, `%2Frun%2Fpostgresql`. */
function parseHost(text: string): { host: string | undefined; port: string | undefined } {
  const [, bracketed, plain, port] =
    /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(text) ?? fail('an IPv6 address must be in brackets');
  return { host: decode(bracketed ?? plain ?? '') || undefined, port: port || undefined };
}

function parsePort(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_PORT;
  const port = Number(text);
  return /^\d+$/.test(text) && port > 0 && port < 65_536
    ? port
    : fail('its port must be between 1 and 65535');
}

function parseMode(text: string | undefined): SslMode | undefined {
  if (text === undefined || text === '') return undefined;
  return (
    SSL_MODES.find((mode) => mode === text) ??
    fail(`sslmode must be one of ${SSL_MODES.join(', ')}, not ${JSON.stringify(text)}`)
  );
}

/** Reads `ssl`, which Node's and Java's drivers have in place of sslmode; there, `true` verifies. */
function fromSwitch(text: string | undefined): SslMode | undefined {
  if (text === undefined) return undefined;
  if (text === 'true' || text === '1') return 'verify-full';
  if (text === 'false' || text === '0') return 'disable';
  return fail('ssl must be true or false; sslmode says more');
}

/** A `%` that begins no code stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function fail(what: string): never {
  throw new Error(`the URL of PostgreSQL cannot be read: ${what}`);
}
