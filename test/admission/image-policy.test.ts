import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../src/admission/admission.ts';
import { createImagePolicy, readImagePolicyConfig } from '../../src/admission/plugins/image-policy.ts';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { attributesOf, refusalOf, toObject } from '../kit/admission.ts';

const container = (image: string): JsonObject => ({ name: 'c', image });

/** A webhook that refuses images whose names begin with `bad`; it records the reviews it gets and the waits between them. */
class Backend {
  readonly asked: JsonObject[] = [];
  readonly waits: number[] = [];
  now = 1000;
  answer: (review: JsonObject) => JsonValue = (review) => ({ ...review, status: this.judge(review) });
  notes: Record<string, string> | undefined;

  judge(review: JsonObject): JsonObject {
    const { containers = [] } = review.spec as { containers?: { image: string }[] };
    const bad = containers.some(({ image }) => image.startsWith('bad'));
    const notes = this.notes === undefined ? {} : { auditAnnotations: this.notes };
    return bad ? { allowed: false, reason: 'not allowed', ...notes } : { allowed: true, ...notes };
  }

  plugin(config: Partial<ReturnType<typeof readImagePolicyConfig>> = {}, emulated: Minor = 31) {
    return createImagePolicy({
      emulated,
      config: { allowTtlMs: 5000, denyTtlMs: 1000, retryBackoffMs: 100, defaultAllow: false, ...config },
      post: async (review) => {
        this.asked.push(review);
        return this.answer(review);
      },
      isTransient: (error) => error instanceof Error && error.message === 'passing',
      nowMs: () => this.now,
      pauseFor: async (ms) => void this.waits.push(ms),
    });
  }
}

type Rest = Partial<AdmissionAttributes> & { readonly annotations?: Record<string, string> };
const pod = (spec: JsonObject, rest: Rest = {}, annotations = {}) =>
  attributesOf('pods', { object: toObject({ metadata: { name: 'p', annotations }, spec }), ...rest });
const DENIED = 'pods "p" is forbidden: image policy webhook backend denied one or more images: not allowed';
const [good, bad] = [[container('good')], [container('bad')]];

test.each<[string, JsonObject, string, string | undefined]>([
  ['good', { containers: good }, '', undefined],
  ['bad', { containers: bad }, '', DENIED],
  ['one good, one bad', { containers: [...good, ...bad] }, '', DENIED],
  ['good, with a bad init container', { containers: good, initContainers: bad }, '', DENIED],
  ['bad, with a good init container', { containers: bad, initContainers: good }, '', DENIED],
  [
    'good, with an ephemeral one that was let in before',
    { containers: good, ephemeralContainers: bad },
    '',
    undefined,
  ],
  [
    'given a bad ephemeral one',
    { containers: good, ephemeralContainers: bad },
    'ephemeralcontainers',
    DENIED,
  ],
  [
    'bad, given a good ephemeral one',
    { containers: bad, ephemeralContainers: good },
    'ephemeralcontainers',
    undefined,
  ],
  ['bad, of which only the status is written', { containers: bad }, 'status', undefined],
])('containers that are %s', async (_, spec, subresource, why) => {
  const operation = subresource === '' ? 'CREATE' : 'UPDATE';
  expect(await refusalOf(new Backend().plugin(), pod(spec, { subresource, operation }))).toBe(why);
});

test('images, the annotations that are for the webhook, and the namespace are asked about, and nothing else', async () => {
  const backend = new Backend();
  const annotations = { 'my.image-policy.k8s.io/ticket': '7', 'image-policy.k8s.io/x': 'no', other: 'no' };
  await refusalOf(
    backend.plugin(),
    pod({ containers: good, initContainers: [container('init')] }, {}, annotations),
  );
  expect(backend.asked).toEqual([
    {
      kind: 'ImageReview',
      apiVersion: 'imagepolicy.k8s.io/v1alpha1',
      metadata: { creationTimestamp: null },
      spec: {
        containers: [{ image: 'good' }, { image: 'init' }],
        annotations: { 'my.image-policy.k8s.io/ticket': '7' },
        namespace: 'default',
      },
      status: { allowed: false },
    },
  ]);
  expect(
    await refusalOf(backend.plugin(), attributesOf('secrets', { object: toObject({}) })),
  ).toBeUndefined();
  expect(backend.asked).toHaveLength(1);
});

test('a review has no time of creation since 1.34', async () => {
  const backend = new Backend();
  await refusalOf(backend.plugin({}, 34), pod({ containers: good }));
  await refusalOf(backend.plugin({}, 33), pod({ containers: good }));
  expect(backend.asked.map(({ metadata }) => metadata)).toEqual([{}, { creationTimestamp: null }]);
});

test('an answer is believed for its time, a yes longer than a no, and for the same question only', async () => {
  const backend = new Backend();
  const plugin = backend.plugin();
  const asked = async (spec: JsonObject, afterMs = 0): Promise<number> => {
    backend.now += afterMs;
    const before = backend.asked.length;
    await refusalOf(plugin, pod(spec));
    return backend.asked.length - before;
  };
  expect(await asked({ containers: good })).toBe(1);
  expect(await asked({ containers: bad })).toBe(1);
  expect(await asked({ containers: good })).toBe(0);
  expect(await asked({ containers: bad }, 500)).toBe(0);
  expect(await asked({ containers: bad }, 600)).toBe(1);
  expect(await asked({ containers: good })).toBe(0);
  expect(await asked({ containers: good }, 5000)).toBe(1);
});

test('an answer that may not be kept is asked for again', async () => {
  const backend = new Backend();
  const plugin = backend.plugin({ allowTtlMs: 0 });
  await refusalOf(plugin, pod({ containers: good }));
  await refusalOf(plugin, pod({ containers: good }));
  expect(backend.asked).toHaveLength(2);
});

test('a refusal without a reason is reported as a refusal', async () => {
  const backend = new Backend();
  backend.answer = () => ({ status: { allowed: false } });
  const why = 'pods "p" is forbidden: one or more images rejected by webhook backend';
  expect(await refusalOf(backend.plugin(), pod({ containers: good }))).toBe(why);
});

test('audit annotations of the webhook are recorded, also for refusals and cached answers', async () => {
  const backend = new Backend();
  backend.notes = { broker: 'yes', 'not a key': 'x' };
  const plugin = backend.plugin();
  for (const containers of [good, good, bad]) {
    const annotations: Record<string, string> = {};
    await refusalOf(plugin, pod({ containers }, { annotations }));
    expect(annotations).toEqual({ 'imagepolicywebhook.image-policy.k8s.io/broker': 'yes' });
  }
  expect(backend.asked).toHaveLength(2);
});

test.each([
  ['passing', 5, [100, 150, 225, 337.5]],
  ['lasting', 1, []],
])('a %s failure is tried %i times, and refuses the pod', async (message, tries, waits) => {
  const backend = new Backend();
  backend.answer = () => {
    throw new Error(message);
  };
  expect(await refusalOf(backend.plugin(), pod({ containers: good }))).toBe(
    `pods "p" is forbidden: ${message}`,
  );
  expect([backend.asked.length, backend.waits]).toEqual([tries, waits]);
});

test('where a failure allows, the pod is let in, the log knows it, and the next one is asked about again', async () => {
  const backend = new Backend();
  backend.answer = () => {
    throw new Error('gone');
  };
  const plugin = backend.plugin({ defaultAllow: true });
  const annotations: Record<string, string> = {};
  expect(await refusalOf(plugin, pod({ containers: bad }, { annotations }))).toBeUndefined();
  expect(annotations).toEqual({ 'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true' });
  backend.answer = (review) => ({ ...review, status: backend.judge(review) });
  expect(await refusalOf(plugin, pod({ containers: bad }))).toBe(DENIED);
});

test.each<[JsonValue, string]>([
  ['yes', 'webhook answered with no ImageReview'],
  [
    { kind: 'TokenReview', status: { allowed: true } },
    'webhook answered with imagepolicy.k8s.io/v1alpha1, Kind=TokenReview instead of imagepolicy.k8s.io/v1alpha1, Kind=ImageReview',
  ],
])('an answer that is no review is a failure: %#', async (answer, why) => {
  const backend = new Backend();
  backend.answer = () => answer;
  expect(await refusalOf(backend.plugin(), pod({ containers: good }))).toBe(`pods "p" is forbidden: ${why}`);
});

const config = (policy: JsonObject): JsonObject => ({ imagePolicy: { kubeConfigFile: '/f', ...policy } });
const read = {
  kubeConfigFile: '/f',
  allowTtlMs: 300_000,
  denyTtlMs: 30_000,
  retryBackoffMs: 500,
  defaultAllow: false,
};

test.each<[JsonObject, object]>([
  [{}, read],
  [{ allowTTL: 0, denyTTL: 0, retryBackoff: 0 }, read],
  [
    { allowTTL: -1, denyTTL: -1, retryBackoff: -1 },
    { ...read, allowTtlMs: 0, denyTtlMs: 0, retryBackoffMs: 0 },
  ],
  [
    { allowTTL: 1, denyTTL: 1800, retryBackoff: 300_000, defaultAllow: true },
    { ...read, allowTtlMs: 1000, denyTtlMs: 1_800_000, retryBackoffMs: 300_000, defaultAllow: true },
  ],
])('configuration %j', (policy, expected) => {
  expect(readImagePolicyConfig(config(policy))).toEqual(expected);
});

test.each<[JsonValue | undefined, string]>([
  [undefined, 'no config specified'],
  [{}, 'imagePolicy.kubeConfigFile: Required value'],
  [config({ allowTTL: 7200 }), 'imagePolicy.allowTTL: valid value is between 1s and 30m0s, got 2h0m0s'],
  [config({ denyTTL: -2 }), 'imagePolicy.denyTTL: valid value is between 1s and 30m0s, got -2s'],
  [
    config({ retryBackoff: 300_001 }),
    'imagePolicy.retryBackoff: valid value is between 1ns and 5m0s, got 5m0.001s',
  ],
  [config({ retryBackoff: -5 }), 'imagePolicy.retryBackoff: valid value is between 1ns and 5m0s, got -5ms'],
  [config({ allowTTL: '5m' }), 'imagePolicy.allowTTL: must be an integer'],
  [config({ defaultAllow: 'yes' }), 'imagePolicy.defaultAllow: must be true or false'],
  [config({ failOpen: true }), 'imagePolicy.failOpen: unknown field'],
])('a configuration that cannot be is refused: %#', (value, why) => {
  expect(() => readImagePolicyConfig(value)).toThrow(`ImagePolicyWebhook configuration: ${why}`);
});
