import { describe, expect, test } from 'vitest';
import {
  checkName,
  checkPortName,
  checkQualifiedName,
  isDnsLabel,
  isDnsSubdomain,
  isQualifiedPart,
} from '../../src/object/text-formats.ts';

/** As Kubernetes states them. */
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const ALPHABET = ['a', 'z', '0', 'A', '-', '.', '_', '/', ' ', '\n', 'é', '\u{1f600}'];

/** Every text of up to four characters of the alphabet, and longer ones by chance. */
function* texts(): Generator<string> {
  let last = [''];
  yield '';
  for (let length = 1; length <= 4; length += 1) {
    last = last.flatMap((text) => ALPHABET.map((character) => text + character));
    yield* last;
  }
  let seed = 1;
  const next = (below: number): number => {
    seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((seed / 4_294_967_296) * below);
  };
  for (let count = 0; count < 20_000; count += 1) {
    // Mostly of what is allowed, so that a good part is good.
    yield Array.from({ length: 5 + next(70) }, () => ALPHABET[next(next(9) === 0 ? 12 : 3)]).join('');
  }
}

describe('names that are recognised in one pass over their characters', () => {
  test('are those that the regular expressions of Kubernetes accept', () => {
    const wrong: string[] = [];
    for (const text of texts()) {
      if (isDnsLabel(text) !== DNS_LABEL.test(text)) wrong.push(`label ${JSON.stringify(text)}`);
      if (isDnsSubdomain(text) !== DNS_SUBDOMAIN.test(text)) wrong.push(`subdomain ${JSON.stringify(text)}`);
      if (isQualifiedPart(text) !== QUALIFIED_NAME.test(text)) wrong.push(`name ${JSON.stringify(text)}`);
    }
    expect(wrong).toEqual([]);
  });

  test('are good keys with and without a prefix, to the last character that is allowed', () => {
    const wrong: string[] = [];
    for (const text of texts()) {
      const [prefix = '', name, ...more] = `${text}`.split('/');
      const good =
        more.length === 0 &&
        QUALIFIED_NAME.test(name ?? prefix) &&
        (name ?? prefix).length <= 63 &&
        (name === undefined || (DNS_SUBDOMAIN.test(prefix) && prefix.length <= 253));
      if ((checkQualifiedName(text).length === 0) !== good) wrong.push(JSON.stringify(text));
    }
    expect(wrong).toEqual([]);
    expect(checkQualifiedName(`${'a'.repeat(253)}/${'b'.repeat(63)}`)).toEqual([]);
    expect(checkQualifiedName(`${'a'.repeat(254)}/b`)).toHaveLength(1);
    expect(checkQualifiedName(`a/${'b'.repeat(64)}`)).toHaveLength(1);
  });

  test('are refused where they are too long', () => {
    expect(checkName('a'.repeat(63), 'dns-label')).toEqual([]);
    expect(checkName('a'.repeat(64), 'dns-label')).toEqual(['must be no more than 63 characters']);
    expect(checkName('a.b', 'dns-label')).toEqual(['must not contain dots']);
    expect(checkName('a.b', 'dns-subdomain')).toEqual([]);
    expect(checkName('a'.repeat(254), 'dns-subdomain')).toEqual(['must be no more than 253 characters']);
  });
});

test('a port has a good name when none of the rules of RFC 6335 is broken', () => {
  const wrong: string[] = [];
  for (const name of texts()) {
    const good =
      name.length <= 15 &&
      /^[-a-z0-9]+$/.test(name) &&
      /[a-z]/.test(name) &&
      !name.includes('--') &&
      !name.startsWith('-') &&
      !name.endsWith('-');
    if ((checkPortName(name).length === 0) !== good) wrong.push(JSON.stringify(name));
  }
  expect(wrong).toEqual([]);
});
