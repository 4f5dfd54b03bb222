import { createDecipheriv } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  type Cipher,
  createCbc,
  createGcm,
  createSecretbox,
} from '../../../src/storage/encryption/ciphers.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const key = (bytes: number, fill = 7): Buffer => Buffer.alloc(bytes, fill);
const CONTEXT = Buffer.from('/secrets/default/a');

const CIPHERS: readonly (readonly [string, (fill?: number) => Cipher])[] = [
  ...[16, 24, 32].map(
    (size) => [`aescbc of ${size}`, (fill?: number) => createCbc(key(size, fill))] as const,
  ),
  ...[16, 24, 32].map(
    (size) => [`aesgcm of ${size}`, (fill?: number) => createGcm(key(size, fill))] as const,
  ),
  ['secretbox', (fill) => createSecretbox(key(32, fill))],
];

test.each(CIPHERS)(
  '%s opens what it has sealed, of every length, and never seals the same bytes alike',
  (_, create) => {
    const cipher = create();
    for (const length of [0, 1, 15, 16, 17, 5000]) {
      const plain = Buffer.alloc(length, 'x');
      const sealed = cipher.seal(plain, CONTEXT);
      expect(cipher.open(sealed, CONTEXT)).toEqual(plain);
      expect(cipher.seal(plain, CONTEXT)).not.toEqual(sealed);
      if (length > 1) expect(sealed.includes(plain.subarray(0, 15))).toBe(false);
    }
  },
);

test.each(CIPHERS)(
  '%s opens nothing for another key or another place, and nothing that lacks or changed a byte',
  (_, create) => {
    const cipher = create();
    const sealed = cipher.seal(Buffer.from('{"kind":"Secret"}'), CONTEXT);
    expect(() => create(8).open(sealed, CONTEXT)).toThrow();
    expect(() => cipher.open(sealed, Buffer.from('/secrets/default/b'))).toThrow();
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => cipher.open(changed, CONTEXT), `byte ${at}`).toThrow();
      expect(() => cipher.open(sealed.subarray(0, at), CONTEXT), `${at} bytes`).toThrow();
    }
  },
);

test('aesgcm opens a published vector: test case 16 of the specification of GCM, with its additional data', () => {
  const cipher = createGcm(hex('feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308'));
  const sealed = hex(`cafebabefacedbaddecaf888
    522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
    8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
    76fc6ece0f4e1768cddf8853bb2d551b`);
  const opened = cipher.open(sealed, hex('feedfacedeadbeeffeedfacedeadbeefabaddad2'));
  expect(opened).toEqual(
    hex(`d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
      1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39`),
  );
});

test('aescbc is CBC with PKCS #7 behind its initialization vector, and a MAC of 32 bytes behind that', () => {
  const plain = Buffer.from('{"kind":"Secret","apiVersion":"v1"}');
  const sealed = createCbc(key(32)).seal(plain, CONTEXT);
  const decipher = createDecipheriv('aes-256-cbc', key(32), sealed.subarray(0, 16));
  const opened = Buffer.concat([decipher.update(sealed.subarray(16, -32)), decipher.final()]);
  expect(opened).toEqual(plain);
});

test('secretbox is that of NaCl: it opens the box of its own test (tests/secretbox.c), which has another context', () => {
  const naclKey = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
  const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
  const box = hex(`f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce
    48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c972
    71d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae
    90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b3
    7973f622a43d14a6599b1f654cb45a74e355a5`);
  // It authenticates, and then is refused for its first 32 bytes, which are not the digest of a context.
  const open = (): Buffer => createSecretbox(naclKey).open(Buffer.concat([nonce, box]), CONTEXT);
  expect(open).toThrow('the bytes are not authentic');
  box.writeUInt8(box.readUInt8(40) ^ 1, 40);
  expect(open).toThrow(/tag|mac/i);
});
