import { expect, test } from 'vitest';
import type { HttpsGet } from '../../src/outbound/http-client.ts';
import { documentsElsewhere, SharedDocuments } from '../../src/outbound/shared-documents.ts';

const URL = 'https://issuer.example/keys';

function create() {
  const asked: string[] = [];
  let nowMs = 0;
  let failure: Error | undefined;
  const createGet =
    (ca: string | undefined): HttpsGet =>
    async (url, options) => {
      asked.push(`${ca ?? 'any'} ${url}${options?.authorization ?? ''}`);
      if (failure !== undefined) throw failure;
      return `document ${asked.length}`;
    };
  const documents = new SharedDocuments(createGet, () => nowMs);
  const elsewhere = documentsElsewhere(createGet, (named) => documents.get(named));
  return {
    ...{ asked, documents, elsewhere },
    pass: (ms: number) => {
      nowMs += ms;
    },
    fail: (error: Error | undefined) => {
      failure = error;
    },
  };
}

test('threads that ask at the same time get one fetch, and later ones another', async () => {
  const { asked, documents, elsewhere, pass } = create();
  const texts = [documents.createGet(undefined)(URL), elsewhere(undefined)(URL), elsewhere(undefined)(URL)];
  expect(await Promise.all(texts)).toEqual(['document 1', 'document 1', 'document 1']);
  pass(999);
  expect(await elsewhere(undefined)(URL)).toBe('document 1');
  pass(1);
  expect(await elsewhere(undefined)(URL)).toBe('document 2');
  expect(asked).toHaveLength(2);
});

test('what is fetched by other authorities, elsewhere or with an authorization is fetched by itself', async () => {
  const { asked, documents, elsewhere } = create();
  await documents.get({ ca: undefined, url: URL });
  await documents.get({ ca: 'ours', url: URL });
  await documents.get({ ca: 'ours', url: `${URL}/2` });
  for (let round = 0; round < 2; round += 1) {
    await documents.createGet('ours')(URL, { authorization: ' by alice' });
    await elsewhere('ours')(URL, { authorization: ' by bob' });
  }
  expect(asked).toEqual([
    `any ${URL}`,
    `ours ${URL}`,
    `ours ${URL}/2`,
    ...[`ours ${URL} by alice`, `ours ${URL} by bob`, `ours ${URL} by alice`, `ours ${URL} by bob`],
  ]);
});

test('a failure is for those who wait, and the next one tries again', async () => {
  const { asked, documents, fail } = create();
  fail(new Error('no route'));
  const both = [documents.get({ ca: undefined, url: URL }), documents.get({ ca: undefined, url: URL })];
  for (const text of both) await expect(text).rejects.toThrow('no route');
  fail(undefined);
  expect(await documents.get({ ca: undefined, url: URL })).toBe('document 2');
  expect(asked).toHaveLength(2);
});
