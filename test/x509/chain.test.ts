import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { expect, test } from 'vitest';
import { type Certificate, readCertificate } from '../../src/x509/certificate.ts';
import { findChain } from '../../src/x509/chain.ts';
import { certificatesIn } from '../../src/x509/pem.ts';
import { Authority, type AuthorityOptions, type LeafOptions } from '../kit/pki.ts';

const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
const HOUR_MS = 3_600_000;

const isAuthority = (pathLength?: number) => new x509.BasicConstraintsExtension(true, pathLength, true);
const usage = (...usages: string[]) => new x509.ExtendedKeyUsageExtension(usages);
/** Valid DER of an unknown extension. */
const unknown = (critical: boolean) => new x509.Extension('1.2.3.4.5', critical, Buffer.from([5, 0]));
const past = { notBefore: new Date(Date.now() - 2 * HOUR_MS), notAfter: new Date(Date.now() - HOUR_MS) };

interface Links {
  readonly root?: AuthorityOptions;
  /** From the root on down. */
  readonly between?: readonly AuthorityOptions[];
  readonly leaf?: Partial<LeafOptions>;
}

async function judge({ root = {}, between = [], leaf = {} }: Links): Promise<string> {
  const authority = await Authority.create('root', root);
  const issuers = [authority];
  for (const [at, options] of between.entries()) {
    issuers.push(await Authority.create(`between-${at}`, { parent: issuers[at] as Authority, ...options }));
  }
  const last = issuers.at(-1) as Authority;
  const { cert } = await last.issue({ subject: 'CN=alice', ...leaf });
  const read = (pem: string): Certificate => readCertificate(certificatesIn(pem)[0] as Buffer);
  try {
    const question = {
      leaf: read(cert),
      intermediates: issuers.slice(1).map(({ pem }) => read(pem)),
      authorities: [read(authority.pem)],
      nowMs: Date.now(),
    };
    const chain = findChain(question, 'clients');
    return `let in by ${chain.length}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const one = (options: AuthorityOptions): Links => ({ between: [options] });
const authorityWith = (...extensions: x509.Extension[]): AuthorityOptions => ({
  extensions: [isAuthority(), ...extensions],
});

test.each<[string, Links, string]>([
  ['directly', {}, 'let in by 2'],
  ['through one intermediate', one({}), 'let in by 3'],
  ['through two', { between: [{}, {}] }, 'let in by 4'],
  ['through one that is for clients', one(authorityWith(usage(clientAuth))), 'let in by 3'],
  ['through one that is for both', one(authorityWith(usage(serverAuth, clientAuth))), 'let in by 3'],
  ['through one that is for anything', one(authorityWith(usage('2.5.29.37.0'))), 'let in by 3'],
  ['without a word on what it is for', { leaf: { extensions: [] } }, 'let in by 2'],
  ['through one that may have no other below', one({ extensions: [isAuthority(0)] }), 'let in by 3'],
  [
    'with an unknown extension that is not critical',
    { leaf: { extensions: [unknown(false)] } },
    'let in by 2',
  ],
  [
    'through one that may sign certificates',
    one(authorityWith(new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true))),
    'let in by 3',
  ],
])('a client is let in %s', async (_, links, result) => {
  expect(await judge(links)).toBe(result);
});

test.each<[string, Links, RegExp]>([
  ['a certificate for servers', { leaf: { extensions: [usage(serverAuth)] } }, /incompatible key usage/],
  ['an intermediate for servers', one(authorityWith(usage(serverAuth))), /incompatible key usage/],
  ['a root for servers', { root: authorityWith(usage(serverAuth)) }, /incompatible key usage/],
  [
    'an intermediate that is no authority',
    one({ extensions: [new x509.BasicConstraintsExtension(false)] }),
    /not authorized to sign/,
  ],
  ['an intermediate that does not say it is one', one({ extensions: [] }), /not authorized to sign/],
  ['a root that does not say it is one', { root: { extensions: [] } }, /not authorized to sign/],
  [
    'an intermediate whose key is for other things',
    one(authorityWith(new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true))),
    /no key usage for signing/,
  ],
  [
    'more intermediates than the upper one may have',
    { between: [{ extensions: [isAuthority(0)] }, {}] },
    /too many intermediates/,
  ],
  [
    'more intermediates than the root may have',
    { root: { extensions: [isAuthority(0)] }, between: [{}] },
    /too many intermediates/,
  ],
  [
    'an unknown critical extension of its own',
    { leaf: { extensions: [unknown(true)] } },
    /unhandled critical extension 1\.2\.3\.4\.5/,
  ],
  ['an unknown critical extension above', one(authorityWith(unknown(true))), /unhandled critical extension/],
  [
    'an unknown critical extension of the root',
    { root: authorityWith(unknown(true)) },
    /unhandled critical extension/,
  ],
  [
    'an extension that is there twice',
    { leaf: { extensions: [unknown(false), unknown(false)] } },
    /duplicate extensions/,
  ],
  ['an intermediate whose time is over', one(past), /expired/],
  ['a root whose time is over', { root: past }, /expired/],
  ['a time that is over', { leaf: past }, /expired/],
])('a client is refused for %s', async (_, links, why) => {
  expect(await judge(links)).toMatch(why);
});

const tree = (kind: number, bytes: Buffer): Buffer => {
  const name = Buffer.concat([Buffer.from([0x80 | kind, bytes.length]), bytes]);
  return Buffer.concat([Buffer.from([0x30, name.length]), name]);
};
const constraints = (place: 'permitted' | 'excluded', subtree: Buffer): x509.Extension => {
  const list = Buffer.concat([Buffer.from([place === 'permitted' ? 0xa0 : 0xa1, subtree.length]), subtree]);
  return new x509.Extension('2.5.29.30', true, Buffer.concat([Buffer.from([0x30, list.length]), list]));
};
const [EMAIL, DNS, IP] = [1, 2, 7];
const named = (type: 'dns' | 'email' | 'ip', value: string): Partial<LeafOptions> => ({
  extensions: [new x509.SubjectAlternativeNameExtension([{ type, value }])],
});

test.each<[string, x509.Extension, Partial<LeafOptions>, RegExp]>([
  ['without other names', constraints('permitted', tree(DNS, Buffer.from('ours.test'))), {}, /let in/],
  [
    'of a host below a domain',
    constraints('permitted', tree(DNS, Buffer.from('ours.test'))),
    named('dns', 'a.ours.test'),
    /let in/,
  ],
  [
    'of another domain',
    constraints('permitted', tree(DNS, Buffer.from('ours.test'))),
    named('dns', 'notours.test'),
    /for this name/,
  ],
  [
    'of an excluded domain',
    constraints('excluded', tree(DNS, Buffer.from('ours.test'))),
    named('dns', 'ours.test'),
    /for this name/,
  ],
  [
    'with a mailbox of the host',
    constraints('permitted', tree(EMAIL, Buffer.from('ours.test'))),
    named('email', 'a@ours.test'),
    /let in/,
  ],
  [
    'with a mailbox elsewhere',
    constraints('permitted', tree(EMAIL, Buffer.from('ours.test'))),
    named('email', 'a@b.test'),
    /for this name/,
  ],
  [
    'with an address inside',
    constraints('permitted', tree(IP, Buffer.from([10, 0, 0, 0, 255, 0, 0, 0]))),
    named('ip', '10.1.2.3'),
    /let in/,
  ],
  [
    'with an address outside',
    constraints('permitted', tree(IP, Buffer.from([10, 0, 0, 0, 255, 0, 0, 0]))),
    named('ip', '11.1.2.3'),
    /for this name/,
  ],
  [
    'held to names of a kind that is not compared',
    constraints('permitted', tree(8, Buffer.from([42]))),
    {},
    /unhandled critical/,
  ],
])(
  'below an authority with constraints, a client %s is judged by its names',
  async (_, extension, leaf, result) => {
    expect(await judge({ ...one(authorityWith(extension)), leaf })).toMatch(result);
  },
);

test('of several certificates of one name, the one is found that leads to an authority', async () => {
  const root = await Authority.create('root');
  const good = await Authority.create('between', { parent: root });
  const decoys = await Promise.all(Array.from({ length: 5 }, () => Authority.create('between')));
  const read = (pem: string): Certificate => readCertificate(certificatesIn(pem)[0] as Buffer);
  const { cert } = await good.issue({ subject: 'CN=alice' });
  const question = {
    leaf: read(cert),
    intermediates: [...decoys, good].map(({ pem }) => read(pem)),
    authorities: [read(root.pem)],
    nowMs: Date.now(),
  };
  const chain = findChain(question, 'clients');
  expect(chain.map(({ subject }) => subject.commonName)).toEqual(['alice', 'between', 'root']);
});
