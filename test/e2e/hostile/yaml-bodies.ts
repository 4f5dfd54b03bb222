import type { HostileRequest } from '../../kit/hostile-request.ts';

/** What YAML adds: anchors, merges, tags, indentation, and a parser that is fifty times slower than JSON's. */
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const TYPE = 'apiVersion: authentication.k8s.io/v1\nkind: SelfSubjectReview\n';
const MAX_BYTES = 3 * 1024 * 1024;

const post = (name: string, body: () => string): HostileRequest => ({
  name,
  method: 'POST',
  path: REVIEW,
  headers: { 'content-type': 'application/yaml' },
  body: () => TYPE + body(),
});

const lines = (line: (at: number) => string, maxBytes = MAX_BYTES - 100): string => {
  const out: string[] = [];
  let room = maxBytes;
  for (let at = 0; ; at += 1) {
    const next = line(at);
    room -= next.length + 1;
    if (room < 0) return out.join('\n');
    out.push(next);
  }
};

export const YAML_BODIES: readonly HostileRequest[] = [
  post('anchors, each with an alias', () => lines((at) => `k${at}: &a${at} x\nl${at}: *a${at}`, 364 * 1024)),
  post('as many anchors as fit', () => lines((at) => `k${at}: &a${at} x\nl${at}: *a${at}`)),
  post('aliases of aliases', () => {
    const levels = Array.from({ length: 30 }, (_, at) =>
      at === 0 ? 'a0: &a0 [x,x]' : `a${at}: &a${at} [*a${at - 1},*a${at - 1}]`,
    );
    return levels.join('\n');
  }),
  post('a plain flow sequence', () => `a: [${lines(() => 'x,').replaceAll('\n', '')}]`),
  post('a flow sequence of 300 kB', () => `a: [${lines(() => 'x,', 300_000).replaceAll('\n', '')}]`),
  post('flow mappings nested as deep as they fit', () => `a: ${'{a: '.repeat(100_000)}`),
  post('block mappings nested 1,000 deep', () =>
    Array.from({ length: 1000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
  ),
  post('a block of plain lines', () => lines((at) => `k${at}: v`)),
  post('documents', () => lines(() => '---\na: b')),
  post('repeated keys', () => lines(() => 'a: b')),
  post('merges', () => `b: &b {x: 1}\n${lines((at) => `k${at}: {<<: *b}`)}`),
  post('errors without end', () => lines(() => '\t: - }')),
  post('comments', () => lines(() => '# x')),
  post('quoted text over many lines', () => `a: "${lines(() => 'x ')}"`),
  post('a text that is nothing but quotes', () => `a: "${"'".repeat(1_000_000)}`),
  {
    name: 'an apply patch in YAML, of many keys',
    method: 'PATCH',
    path: '/api/v1/namespaces/default/configmaps/applied?fieldManager=me',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: () =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata:\n${lines((at) => `  k${at}: v`)}`,
  },
  {
    name: 'an apply patch in YAML, of anchors',
    method: 'PATCH',
    path: '/api/v1/namespaces/default/configmaps/anchored?fieldManager=me',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: () =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: anchored}\ndata:\n${lines((at) => `  k${at}: &a${at} v\n  l${at}: *a${at}`)}`,
  },
];
