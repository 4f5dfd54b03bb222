import { expect, test } from 'vitest';
import { createEventRateLimit, readLimits } from '../../src/admission/plugins/event-rate-limit.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { attributesOf, refusalOf, toObject } from '../kit/admission.ts';

type LimitType = Limit['type'];
type Limit = Parameters<typeof createEventRateLimit>[0][number];

interface Request {
  readonly resource?: string;
  readonly namespace?: string;
  readonly user?: string;
  readonly event?: JsonObject;
  readonly dryRun?: boolean;
  readonly afterMs?: number;
}

const limit = (type: LimitType, burst: number, cacheSize = 10): Limit => ({
  type,
  perSecond: 1,
  burst,
  cacheSize,
});

/** What became of the requests: `.` for one that was let through. */
async function send(limits: readonly Limit[], requests: readonly Request[]): Promise<(string | undefined)[]> {
  let now = 0;
  const plugin = createEventRateLimit(limits, () => now);
  const answers: (string | undefined)[] = [];
  for (const {
    resource = 'events',
    namespace = 'a',
    user = 'jane',
    event = {},
    dryRun = false,
    afterMs = 0,
  } of requests) {
    now += afterMs;
    const attributes = attributesOf(resource, {
      object: toObject({ metadata: { namespace }, ...event }),
      ...{ namespace, dryRun, user: { username: user, uid: '', groups: [], extra: {} } },
    });
    answers.push(await refusalOf(plugin, attributes));
  }
  return answers;
}

const outline = (answers: readonly (string | undefined)[]): string =>
  answers.map((answer) => (answer === undefined ? '.' : 'x')).join('');
const times = (count: number, request: Request): Request[] => Array.from({ length: count }, () => request);
const from = (letters: string, toRequest: (letter: string) => Request): Request[] =>
  [...letters].map(toRequest);

test.each<[string, Request[], string]>([
  ['as many as fit are let through', times(4, {}), '...x'],
  [
    'other objects are not counted',
    [...times(2, {}), { resource: 'pods' }, {}, { resource: 'pods' }],
    '.....',
  ],
  ['events.k8s.io is another kind', times(5, { resource: 'events.k8s.io/events' }), '.....'],
  [
    'dry runs are not counted',
    [...times(2, {}), ...times(4, { dryRun: true }), ...times(2, {}), { dryRun: true }],
    '.......x.',
  ],
  ['a second brings one more', [...times(4, {}), { afterMs: 1000 }, {}], '...x.x'],
  ['less than a second brings none', [...times(3, {}), { afterMs: 999 }, { afterMs: 1 }], '...x.'],
  ['a long time brings no more than fit', [{}, { afterMs: 60_000 }, ...times(3, {})], '....x'],
])('of all events: %s', async (_, requests, expected) => {
  expect(outline(await send([limit('Server', 3)], requests))).toBe(expected);
});

const BY: [LimitType, string, (letter: string) => Request][] = [
  ['Namespace', 'a', (letter) => ({ namespace: letter })],
  ['User', 'a', (letter) => ({ user: letter })],
  ['SourceAndObject', 'a', (letter) => ({ event: { source: { component: letter } } })],
];

test.each(BY)(
  'of each %s: others neither count nor make it forgotten, until there are too many of them',
  async (type, key, toRequest) => {
    const limits = [limit('Server', 100), limit(type, 3, 2)];
    const outlined = async (letters: string) => outline(await send(limits, from(letters, toRequest)));
    expect(await outlined('aaab')).toBe('....');
    expect(await outlined('aaaba')).toBe('....x');
    expect(await outlined('aabbbabacab')).toBe('......xx.x.');
    const answers = await send(limits, from('aaaa', toRequest));
    expect(answers[3]).toBe(`Too many requests: limit reached on type ${type} for key ${key}`);
  },
);

test.each(['kind', 'namespace', 'name', 'uid', 'apiVersion'])(
  'the %s of the object tells events apart',
  async (field) => {
    const requests = from('aab', (letter) => ({ event: { involvedObject: { [field]: letter } } }));
    expect(outline(await send([limit('SourceAndObject', 1)], requests))).toBe('.x.');
  },
);

test('events of different hosts are counted apart; a refusal lists every limit that is reached, and each limit counts what another refuses', async () => {
  const hosts = from('aab', (letter) => ({ event: { source: { host: letter } } }));
  expect(outline(await send([limit('SourceAndObject', 1)], hosts))).toBe('.x.');
  const answers = await send([limit('Server', 1), limit('User', 1)], times(2, {}));
  expect(answers[1]).toBe(
    'Too many requests: [limit reached on type Server for key , limit reached on type User for key jane]',
  );
});

test('events with long keys that differ only at the end are counted apart', async () => {
  const requests = from('aab', (letter) => ({ event: { source: { host: 'x'.repeat(5000) + letter } } }));
  expect(outline(await send([limit('SourceAndObject', 1)], requests))).toBe('.x.');
});

const config = (...limits: JsonValue[]): JsonObject => ({
  apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
  kind: 'Configuration',
  limits,
});
const ONE = { type: 'Server', qps: 1, burst: 5 };

test('limits are read; those that do not say remember 4096 buckets', () => {
  const user = { type: 'User', qps: 2, burst: 10, cacheSize: 100 };
  expect(readLimits(config(ONE, user))).toEqual([
    { type: 'Server', perSecond: 1, burst: 5, cacheSize: 4096 },
    { type: 'User', perSecond: 2, burst: 10, cacheSize: 100 },
  ]);
  expect(readLimits(config({ ...ONE, type: 'Namespace', cacheSize: 2 ** 31 - 1 }))[0]?.cacheSize).toBe(
    2 ** 20,
  );
});

const TYPES = 'supported values: "Server", "Namespace", "User", "SourceAndObject"';
test.each<[JsonValue | undefined, string]>([
  [undefined, 'limits: Invalid value: []eventratelimit.Limit(nil): must not be empty'],
  [config(), 'limits: Invalid value: []eventratelimit.Limit{}: must not be empty'],
  [config({ qps: 1, burst: 1 }), `limits[0].type: Unsupported value: "": ${TYPES}`],
  [config({ ...ONE, type: 'x' }), `limits[0].type: Unsupported value: "x": ${TYPES}`],
  [config({ type: 'Server', qps: 1 }), 'limits[0].burst: Invalid value: 0: must be positive'],
  [config({ type: 'Server', burst: 1 }), 'limits[0].qps: Invalid value: 0: must be positive'],
  [
    config(ONE, { ...ONE, type: 'User', cacheSize: -1 }),
    'limits[1].cacheSize: Invalid value: -1: must not be negative',
  ],
  [config({ ...ONE, qps: 1.5 }), 'limits[0].qps: Invalid value: 1.5: must be an integer'],
  [
    { ...config(ONE), kind: 'Limits' },
    'kind: Unsupported value: "Limits": supported values: "Configuration"',
  ],
  [config({ ...ONE, rate: 1 }), 'limits[0].rate: unknown field'],
])('a configuration that cannot be is refused: %#', (value, why) => {
  expect(() => readLimits(value)).toThrow(`EventRateLimit configuration: ${why}`);
});
