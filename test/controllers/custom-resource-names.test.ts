import { describe, expect, test } from 'vitest';
import type { CustomResourceDefinitionNames } from '../../src/api/types/apiextensions/v1.ts';
import {
  type Claim,
  decideNames,
  type NameDecision,
  sameNames,
} from '../../src/controllers/custom-resources/definition-names.ts';
import { toRevision } from '../../src/storage/revision.ts';

const NOBODY: CustomResourceDefinitionNames = { plural: '', kind: '' };

function claim(revision: number, wanted: CustomResourceDefinitionNames, more: Partial<Claim> = {}): Claim {
  const name = more.name ?? `${wanted.plural}.example.com`;
  return { name, revision: toRevision(revision), wanted, accepted: NOBODY, isEnding: false, ...more };
}

const named = (plural: string, kind: string, ...shortNames: string[]): CustomResourceDefinitionNames => ({
  plural,
  singular: kind.toLowerCase(),
  ...(shortNames.length === 0 ? {} : { shortNames }),
  kind,
  listKind: `${kind}List`,
});

const held = (revision: number, names: CustomResourceDefinitionNames, more: Partial<Claim> = {}): Claim =>
  claim(revision, names, { accepted: names, ...more });

const decisionOf = (claims: Claim[], plural: string): NameDecision | undefined =>
  decideNames(claims).get(`${plural}.example.com`);

test('free names are granted, and categories always', () => {
  const wanted = { ...named('widgets', 'Widget', 'wd'), categories: ['all'] };
  expect(decisionOf([claim(1, wanted)], 'widgets')).toEqual({ accepted: wanted });
});

describe('names in conflict', () => {
  const HOLDER = held(1, named('holders', 'Holder', 'h', 'hs'));

  test.each<[string, CustomResourceDefinitionNames, NameDecision]>([
    [
      'PluralConflict',
      { ...named('h', 'Other'), singular: 'other' },
      {
        accepted: { plural: '', singular: 'other', kind: 'Other', listKind: 'OtherList' },
        conflict: { reason: 'PluralConflict', message: '"h" is already in use' },
      },
    ],
    [
      'SingularConflict',
      { ...named('others', 'Other'), singular: 'holder' },
      {
        accepted: { plural: 'others', singular: '', kind: 'Other', listKind: 'OtherList' },
        conflict: { reason: 'SingularConflict', message: '"holder" is already in use' },
      },
    ],
    [
      'ShortNamesConflict',
      named('others', 'Other', 'o', 'h', 'hs'),
      {
        accepted: { plural: 'others', singular: 'other', kind: 'Other', listKind: 'OtherList' },
        conflict: {
          reason: 'ShortNamesConflict',
          message: '["h" is already in use, "hs" is already in use]',
        },
      },
    ],
    [
      'ShortNamesConflict of one name',
      named('others', 'Other', 'h'),
      {
        accepted: { plural: 'others', singular: 'other', kind: 'Other', listKind: 'OtherList' },
        conflict: { reason: 'ShortNamesConflict', message: '"h" is already in use' },
      },
    ],
    [
      'KindConflict',
      { ...named('others', 'Other'), kind: 'Holder' },
      {
        accepted: { plural: 'others', singular: 'other', kind: '', listKind: 'OtherList' },
        conflict: { reason: 'KindConflict', message: '"Holder" is already in use' },
      },
    ],
    [
      'ListKindConflict, which is reported where there are several',
      { ...named('others', 'Other', 'h'), listKind: 'HolderList', kind: 'HolderList' },
      {
        accepted: { plural: 'others', singular: 'other', kind: '', listKind: '' },
        conflict: { reason: 'ListKindConflict', message: '"HolderList" is already in use' },
      },
    ],
  ])('%s', (_, wanted, decision) => {
    expect(decisionOf([HOLDER, claim(2, wanted)], wanted.plural ?? '')).toEqual(decision);
  });

  test('kinds and names of resources are different words', () => {
    const wanted = { ...named('others', 'Other'), singular: 'holderlist' };
    expect(decisionOf([HOLDER, claim(2, wanted)], 'others')?.conflict).toBeUndefined();
  });

  test('a definition keeps what it has while it cannot have what it wants', () => {
    const before = named('others', 'Other', 'o');
    const wanted = named('others', 'Holder', 'o', 'h');
    expect(decisionOf([HOLDER, claim(2, wanted, { accepted: before })], 'others')?.accepted).toEqual(before);
  });

  test('its own names are free to it', () => {
    const before = named('others', 'Other');
    const wanted = { ...before, singular: 'oo', shortNames: ['other', 'others'] };
    expect(decisionOf([claim(2, wanted, { accepted: before })], 'others')).toEqual({ accepted: wanted });
  });

  test('a definition that ends keeps its names to the end, and gets none', () => {
    const ending = held(3, named('ends', 'End'), { isEnding: true });
    expect(decideNames([ending]).size).toBe(0);
    const next = claim(4, { ...named('others', 'Other'), singular: 'end' });
    expect(decisionOf([ending, next], 'others')?.conflict?.reason).toBe('SingularConflict');
    const waiting = claim(1, named('waits', 'Wait'), { isEnding: true });
    const wanted = { ...named('others', 'Other'), singular: 'wait' };
    expect(decisionOf([waiting, claim(4, wanted)], 'others')?.conflict).toBeUndefined();
  });

  test('built-in names are never free', () => {
    const reserved = { resources: ['pods', 'po'], kinds: ['Pod', 'PodList'] };
    const decisions = decideNames([claim(1, named('others', 'Pod', 'po'))], reserved);
    expect(decisions.get('others.example.com')).toEqual({
      accepted: { plural: 'others', singular: 'pod', kind: '', listKind: '' },
      conflict: { reason: 'ListKindConflict', message: '"PodList" is already in use' },
    });
  });

  test('names from hostile definitions are words like others', () => {
    const wanted = {
      ...named('constructor', 'Constructor'),
      singular: '__proto__',
      shortNames: ['hasownproperty'],
    };
    expect(decisionOf([claim(1, wanted)], 'constructor')).toEqual({ accepted: wanted });
  });
});

test('of definitions that want the same the one that waits for longest has it', () => {
  const [first, second] = [claim(7, named('bs', 'Same')), claim(8, named('as', 'Same'))];
  expect(decisionOf([second, first], 'bs')?.conflict).toBeUndefined();
  expect(decisionOf([second, first], 'as')?.conflict?.reason).toBe('ListKindConflict');
});

test('a name waits for the one that wanted it first, while that one waits for another name', () => {
  const holder = held(1, named('holders', 'Holder', 'm'));
  const [first, second] = [claim(7, named('bs', 'B', 'n', 'm')), claim(8, named('as', 'A', 'n'))];
  expect(decisionOf([holder, first, second], 'as')?.conflict?.message).toBe('"n" is already in use');
  const granted = decisionOf([first, second], 'bs');
  expect(granted).toEqual({ accepted: first.wanted });
});

test('lists that are empty are as good as none', () => {
  const names = named('as', 'A');
  expect(sameNames({ ...names, shortNames: [], categories: [] }, names)).toBe(true);
  expect(sameNames({ ...names, shortNames: ['a'] }, names)).toBe(false);
});

/** Numbers that are the same in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The log of definitions, of which every server knows as much as it has heard. */
class Log {
  readonly states: ReadonlyMap<string, Claim>[] = [new Map()];
  #revision = 0;

  get newest(): ReadonlyMap<string, Claim> {
    return this.states.at(-1) ?? new Map();
  }

  put(name: string, change: Partial<Claim>): void {
    this.#revision += 1;
    const before = this.newest.get(name) ?? claim(0, NOBODY, { name });
    const next = { ...before, ...change, revision: toRevision(this.#revision) };
    this.states.push(new Map([...this.newest, [name, next]]));
  }

  drop(name: string): void {
    this.#revision += 1;
    this.states.push(new Map([...this.newest].filter(([other]) => other !== name)));
  }
}

const SHORT = ['a', 'b', 'c'];

function someNames(name: string, below: (n: number) => number): CustomResourceDefinitionNames {
  const shortNames = SHORT.filter(() => below(2) === 0);
  const kind = `Kind${below(3)}`;
  return { plural: name, singular: `one${below(3)}`, shortNames, kind, listKind: `${kind}List` };
}

test('servers that know different parts of the log never give one name away twice', () => {
  for (let seed = 1; seed <= 1000; seed += 1) {
    const below = random(seed);
    const log = new Log();
    const heard = [0, 0, 0];
    /** Decided by a server, and on its way to the database. */
    const writes: { name: string; decided: NameDecision; expected: bigint }[] = [];
    for (let step = 0; step < 40; step += 1) {
      const name = `d${below(4)}`;
      const server = below(heard.length);
      switch (below(6)) {
        case 0:
          log.put(name, { wanted: someNames(name, below) });
          break;
        case 1:
          log.drop(name);
          break;
        case 2:
          heard[server] = Math.max(heard[server] ?? 0, below(log.states.length));
          break;
        case 3: {
          const claims = [...(log.states[heard[server] ?? 0]?.values() ?? [])];
          for (const [decidedFor, decided] of decideNames(claims)) {
            const expected = claims.find((one) => one.name === decidedFor)?.revision ?? 0n;
            writes.push({ name: decidedFor, decided, expected });
          }
          break;
        }
        default: {
          const [write] = writes.splice(below(writes.length), 1);
          if (write !== undefined && log.newest.get(write.name)?.revision === write.expected)
            log.put(write.name, { accepted: write.decided.accepted });
        }
      }
      const holders = [...log.newest.values()];
      for (const words of [
        holders.flatMap(({ accepted: { plural, singular, shortNames = [] } }) => [
          ...new Set([plural, singular, ...shortNames].filter((word) => word !== '' && word !== undefined)),
        ]),
        holders.flatMap(({ accepted: { kind } }) => (kind === '' || kind === undefined ? [] : [kind])),
      ])
        expect(new Set(words).size, `seed ${seed}, step ${step}`).toBe(words.length);
    }
  }
});
