import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** Certificates for the servers and clients of tests. */

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const HOUR_MS = 3_600_000;

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface LeafOptions {
  /** `CN=front-proxy, O=proxies`, or attributes one by one: those of one object have one place in the name. */
  readonly subject: string | x509.JsonName;
  /** With it, the certificate is for serving on 127.0.0.1 and localhost; without, for clients. */
  readonly serves?: boolean;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Beside its basic constraints, instead of what makes it a server's or a client's. */
  readonly extensions?: readonly x509.Extension[];
}

export interface AuthorityOptions {
  /** Who signs it; absent: itself. */
  readonly parent?: Authority;
  /** Instead of basic constraints that make it an authority. */
  readonly extensions?: readonly x509.Extension[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const AUTHORITY = [new x509.BasicConstraintsExtension(true, undefined, true)];

export class Authority {
  readonly pem: string;
  readonly #certificate: x509.X509Certificate;
  readonly #key: webcrypto.CryptoKey;

  /** An authority in files' form: its certificate and its key. */
  static async createPair(name: string, options: AuthorityOptions = {}): Promise<Pair> {
    const authority = await Authority.create(name, options);
    const der = await webcrypto.subtle.exportKey('pkcs8', authority.#key);
    return { cert: authority.pem, key: `${x509.PemConverter.encode(der, 'PRIVATE KEY')}\n` };
  }

  static async create(name: string, options: AuthorityOptions = {}): Promise<Authority> {
    x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
    const { parent, extensions = AUTHORITY } = options;
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${name}`,
      issuer: parent === undefined ? `CN=${name}` : parent.#certificate.subject,
      publicKey: keys.publicKey,
      signingKey: parent === undefined ? keys.privateKey : parent.#key,
      notBefore: options.notBefore ?? new Date(Date.now() - HOUR_MS),
      notAfter: options.notAfter ?? new Date(Date.now() + HOUR_MS),
      signingAlgorithm: ALGORITHM,
      extensions: [...extensions],
    });
    return new Authority(certificate, keys.privateKey);
  }

  private constructor(certificate: x509.X509Certificate, key: webcrypto.CryptoKey) {
    this.#certificate = certificate;
    this.#key = key;
    this.pem = `${certificate.toString('pem')}\n`;
  }

  async issue({ subject, serves = false, notBefore, notAfter, extensions }: LeafOptions): Promise<Pair> {
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const usage = serves ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
    const names = [
      { type: 'ip', value: '127.0.0.1' },
      { type: 'dns', value: 'localhost' },
    ] as const;
    const certificate = await x509.X509CertificateGenerator.create({
      subject,
      issuer: this.#certificate.subject,
      publicKey: keys.publicKey,
      signingKey: this.#key,
      notBefore: notBefore ?? new Date(Date.now() - HOUR_MS),
      notAfter: notAfter ?? new Date(Date.now() + HOUR_MS),
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        ...(extensions ?? [new x509.ExtendedKeyUsageExtension([usage])]),
        ...(serves ? [new x509.SubjectAlternativeNameExtension([...names])] : []),
      ],
    });
    const der = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return {
      cert: `${certificate.toString('pem')}\n`,
      key: `${x509.PemConverter.encode(der, 'PRIVATE KEY')}\n`,
    };
  }
}
