import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureVersion } from 'node:tls';
import { FollowedFiles } from '../util/followed-files.ts';
import { readCertificate } from '../x509/certificate.ts';
import { bearName } from '../x509/name.ts';
import { certificatesIn, toBundle } from '../x509/pem.ts';

/** A certificate with its chain, and its key, in PEM files. */
export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** --tls-sni-cert-key. Without names, the names in the certificate count. */
export interface SniPair extends PairFiles {
  readonly names: readonly string[];
}

interface TlsSettings {
  readonly minVersion: SecureVersion;
  /** OpenSSL's list; undefined: the runtime's. */
  readonly ciphers: string | undefined;
  /** OpenSSL's list of key exchanges; undefined: the runtime's. */
  readonly curves?: string | undefined;
}

/** The certificate for clients that name no server. */
interface ServingContext {
  readonly cert: string;
  readonly key: string;
  /**
   * The authorities of client certificates that the handshake names, so that clients with several certificates can choose (RFC
   * 8446, section 4.2.4). Undefined: the handshake names none. These certificates bear the names alone; OpenSSL does not verify
   * clients by them.
   */
  readonly ca: string | undefined;
}

interface Contexts {
  readonly serving: ServingContext;
  readonly main: SecureContext;
  readonly exact: ReadonlyMap<string, SecureContext>;
  /** By the part behind the asterisk: `.example.com`. */
  readonly wildcards: ReadonlyMap<string, SecureContext>;
}

/** The serving certificate and those for other names, reloaded when their files change. Open connections keep theirs. */
export class ServingTls {
  readonly settings: TlsSettings;
  readonly #files: FollowedFiles<Contexts>;
  readonly #listeners: ((serving: ServingContext) => void)[] = [];

  /** @throws Error when a file cannot be read, or a key is not its certificate's */
  constructor(options: {
    serving: PairFiles;
    sni: readonly SniPair[];
    /** Files of authorities of client certificates and front proxies. */
    clientCaFiles: readonly string[];
    settings: TlsSettings;
    onReload: () => void;
    onError: (error: unknown) => void;
  }) {
    const { serving, sni, clientCaFiles, settings } = options;
    const pairs = [serving, ...sni].flatMap(({ certFile, keyFile }) => [certFile, keyFile]);
    this.settings = settings;
    this.#files = new FollowedFiles({
      paths: [...pairs, ...clientCaFiles],
      make: (texts) => {
        const ca = toAuthorities(texts.slice(pairs.length), clientCaFiles);
        return toContexts(texts.slice(0, pairs.length), sni, { ca, settings });
      },
      onChange: ({ serving: changed }) => {
        for (const listener of this.#listeners) listener(changed);
        options.onReload();
      },
      onError: options.onError,
    });
  }

  /** The certificate that a new listener starts with. */
  get serving(): ServingContext {
    return this.#files.current.serving;
  }

  /** Notifies the listener, which holds the certificate for clients that name no server. */
  onServingChange(listener: (serving: ServingContext) => void): void {
    this.#listeners.push(listener);
  }

  contextFor(servername: string): SecureContext {
    const { main, exact, wildcards } = this.#files.current;
    const name = servername.toLowerCase();
    const dot = name.indexOf('.');
    return exact.get(name) ?? (dot < 0 ? undefined : wildcards.get(name.slice(dot))) ?? main;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#files.run(signal);
  }

  look(): Promise<void> {
    return this.#files.look();
  }
}

/** @throws Error that names the bad file; the previous bundle stays in use then */
function toAuthorities(texts: readonly string[], paths: readonly string[]): string | undefined {
  const names = texts.flatMap((text, at) => {
    const certificates = certificatesIn(text);
    if (certificates.length === 0) throw new Error(`${paths[at]} holds no certificate in PEM form`);
    return certificates.map((der) => readCertificate(der).subject.raw);
  });
  const once = new Map(names.map((name) => [name.toString('latin1'), name]));
  return once.size === 0 ? undefined : toBundle([...once.values()].map(bearName));
}

function toContexts(
  texts: readonly string[],
  sni: readonly SniPair[],
  { ca, settings }: { readonly ca: string | undefined; readonly settings: TlsSettings },
): Contexts {
  const pairAt = (at: number): { cert: string; key: string } => ({
    cert: texts[at * 2] ?? '',
    key: texts[at * 2 + 1] ?? '',
  });
  const contextOf = (pair: { cert: string; key: string }): SecureContext =>
    createSecureContext({ ...pair, ca, ...toContextOptions(settings) });
  const serving = { ...pairAt(0), ca };
  const named = new Map<string, SecureContext>();
  const explicit = new Map<string, SecureContext>();
  for (const [at, { names }] of sni.entries()) {
    const own = pairAt(at + 1);
    const context = contextOf(own);
    const into = names.length > 0 ? explicit : named;
    // A name that two certificates have belongs to the first one.
    for (const name of names.length > 0 ? names : namesOf(own.cert)) {
      const key = name.toLowerCase();
      if (!into.has(key)) into.set(key, context);
    }
  }
  const all = [...named, ...explicit];
  return {
    serving,
    main: contextOf(serving),
    exact: new Map(all.filter(([name]) => !name.startsWith('*'))),
    wildcards: new Map(
      all.filter(([name]) => name.startsWith('*')).map(([name, one]) => [name.slice(1), one]),
    ),
  };
}

/** SNI has no addresses, so the addresses in a certificate are left out. */
function namesOf(certificate: string): string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(certificate);
  const common = /(?:^|\n)CN=([^\n]+)/.exec(subject)?.[1] ?? '';
  const alternatives = [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(([, name = '']) => name);
  const isDomain = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(common) && !/^\d+(\.\d+){3}$/.test(common);
  return [...(isDomain ? [common] : []), ...alternatives];
}

/** TLS 1.0 and 1.1 sign with SHA-1, which OpenSSL refuses above its lowest security level. */
export function toContextOptions({ minVersion, ciphers, curves }: TlsSettings): {
  minVersion: SecureVersion;
  ciphers?: string;
  ecdhCurve?: string;
} {
  const isOld = minVersion === 'TLSv1' || minVersion === 'TLSv1.1';
  const options = { minVersion, ...(curves === undefined ? {} : { ecdhCurve: curves }) };
  if (ciphers === undefined && !isOld) return options;
  return { ...options, ciphers: `${ciphers ?? 'DEFAULT'}${isOld ? ':@SECLEVEL=0' : ''}` };
}
