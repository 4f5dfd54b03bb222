import { expect, test } from 'vitest';
import { findAuthority } from '../../src/cli/serving-pair.ts';
import { Authority } from '../kit/pki.ts';

const trimmed = (pem: string): string => pem.replaceAll(/\s+/g, '');

test('a certificate that the cluster signed is verified by its authority, as it is written', async () => {
  const own = await Authority.create('own');
  const { cert } = await own.issue({ subject: 'CN=server', serves: true });
  expect(findAuthority(cert, own.pem)).toBe(own.pem);
});

test('a certificate of somebody else is verified by the root in its chain, or by the certificate itself', async () => {
  const own = await Authority.create('own');
  const other = await Authority.create('other');
  const { cert } = await other.issue({ subject: 'CN=server', serves: true });
  expect(trimmed(findAuthority(`${cert}${other.pem}`, own.pem))).toBe(trimmed(other.pem));
  expect(trimmed(findAuthority(cert, own.pem))).toBe(trimmed(cert));
});
