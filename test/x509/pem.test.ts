import { expect, test } from 'vitest';
import { certificatesIn, firstPemBlock, pemBlocks, toPem } from '../../src/x509/pem.ts';
import { threadMs } from '../kit/thread-time.ts';

const of = (type: string, text: string): string => toPem(type, Buffer.from(text));
const typesOf = (text: string): string[] => [...pemBlocks(text)].map(({ type }) => type);
const textsOf = (text: string): string[] => [...pemBlocks(text)].map(({ der }) => der.toString());

test('blocks are read in order, with any text around and between them', () => {
  const text = `subject: us\n${of('A', 'one')}between\n${of('B', 'two')}after`;
  expect(typesOf(text)).toEqual(['A', 'B']);
  expect(textsOf(text)).toEqual(['one', 'two']);
});

test.each([
  ['lines end as on Windows', of('A', 'x'.repeat(100)).replaceAll('\n', '\r\n')],
  ['lines end in spaces', of('A', 'x'.repeat(100)).replaceAll('\n', ' \t\n')],
  [
    'everything is on one line',
    `-----BEGIN A-----\n${Buffer.from('x'.repeat(100)).toString('base64')}\n-----END A-----`,
  ],
])('a block is read when %s', (_, text) => {
  expect(textsOf(text)).toEqual(['x'.repeat(100)]);
});

test('headers belong to a block and are reported', () => {
  const [block] = pemBlocks(
    '-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\neHg=\n-----END A-----\n',
  );
  expect(block).toEqual({ type: 'A', hasHeaders: true, der: Buffer.from('xx') });
  expect(certificatesIn('-----BEGIN CERTIFICATE-----\na: b\n\neHg=\n-----END CERTIFICATE-----\n')).toEqual(
    [],
  );
});

/** What Go's pem.Decode does not take for a block, and where it goes on. */
test.each([
  ['begins in the middle of a line', `x${of('A', 'one')}`],
  ['is indented', ` ${of('A', 'one')}`],
  ['ends as another type', of('A', 'one').replace('END A', 'END B')],
  ['does not end', of('A', 'one').replace(/-----END.*\n/, '')],
  ['has something behind its end', of('A', 'one').replace('-----END A-----', '-----END A-----x')],
  ['is no base64', of('A', 'one').replace('b25l', 'b2-l')],
  ['has padding in the middle', of('A', 'one').replace('b25l', 'b2==b25l')],
  ['is cut off', of('A', 'one').replace('b25l', 'b25')],
])('what %s is passed over, and the next block is the first', (_, broken) => {
  expect(typesOf(broken)).toEqual([]);
  expect(firstPemBlock(`${broken}\n${of('C', 'two')}`)).toMatchObject({ type: 'C', der: Buffer.from('two') });
});

test('an empty block is one', () => {
  expect(textsOf('-----BEGIN A-----\n-----END A-----\n')).toEqual(['']);
});

/** Of what a body may be. Each of them takes minutes where a reader looks for an end from every beginning. */
test.each([
  ['beginnings', '-----BEGIN A-----\n'],
  ['beginnings with colons', '-----BEGIN A:-----\n'],
  ['beginnings and other ends', '-----BEGIN A-----\n-----END B-----\n'],
  ['beginnings that are none', '-----BEGIN A\n'],
  ['beginnings with bodies', '-----BEGIN A-----\neHg=\n'],
])('three megabytes of %s are read in no time', (_, line) => {
  const text = `${line.repeat(Math.floor((3 * 1024 * 1024) / line.length))}-----END A-----\n`;
  const before = threadMs();
  expect([...pemBlocks(text)].length).toBeLessThanOrEqual(1);
  expect(threadMs() - before).toBeLessThan(1000);
});
