import { expect, test } from 'vitest';
import { type CreateGet, documentsElsewhere, SharedDocuments } from '../../src/outbound/shared-documents.ts';

const URL = 'https://issuer.example/keys';

function create() {
  const asked: string[] = [];
  let nowMs = 0;
  let failure: Error | undefined;
  const createGet: CreateGet =
    ({ ca, egress = '' }) =>
    async (url, options) => {
      asked.push(`${egress}${ca ?? 'any'} ${url}${options?.authorization ?? ''}`);
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
  const any = { ca: undefined };
  const texts = [documents.createGet(any)(URL), elsewhere(any)(URL), elsewhere(any)(URL)];
  expect(await Promise.all(texts)).toEqual(['document 1', 'document 1', 'document 1']);
  pass(999);
  expect(await elsewhere(any)(URL)).toBe('document 1');
  pass(1);
  expect(await elsewhere(any)(URL)).toBe('document 2');
  expect(asked).toHaveLength(2);
});

test('what is fetched by other authorities or ways, elsewhere or with an authorization is fetched by itself', async () => {
  const { asked, documents, elsewhere } = create();
  await documents.get({ ca: undefined, url: URL });
  await documents.get({ ca: 'ours', url: URL });
  await documents.get({ ca: 'ours', url: `${URL}/2` });
  await elsewhere({ ca: 'ours', egress: 'cluster' })(URL);
  for (let round = 0; round < 2; round += 1) {
    await documents.createGet({ ca: 'ours' })(URL, { authorization: ' by alice' });
    await elsewhere({ ca: 'ours' })(URL, { authorization: ' by bob' });
  }
  expect(asked).toEqual([
    `any ${URL}`,
    `ours ${URL}`,
    `ours ${URL}/2`,
    `clusterours ${URL}`,
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
