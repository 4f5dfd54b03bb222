// @module-tag long
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { eventually } from '../../kit/connections.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** The part of OTLP that is looked at (opentelemetry/proto/trace/v1). */
const OTLP = `syntax = "proto3";
message Export { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span { bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; repeated KeyValue attributes = 9; }
message KeyValue { string key = 1; Value value = 2; }
message Value { string string_value = 1; int64 int_value = 3; }`;

interface Span {
  readonly name: string;
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
}

let database: TestDatabase;
let collector: Http2Server;
let cluster: Cluster;
const spans: Span[] = [];

/** A collector that speaks just enough gRPC: one message a request, an empty answer. */
function startCollector(): Promise<Http2Server> {
  const type = protobuf.parse(OTLP).root.lookupType('Export');
  const server = createServer();
  server.on('stream', (stream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', () => {});
    stream.once('end', () => {
      const message = Buffer.concat(chunks).subarray(5);
      const { resourceSpans } = type.toObject(type.decode(message), {
        bytes: Buffer,
        defaults: true,
        arrays: true,
      });
      for (const { scopeSpans } of resourceSpans)
        for (const scope of scopeSpans)
          for (const span of scope.spans) {
            const hex = (bytes: Buffer): string => Buffer.from(bytes).toString('hex');
            spans.push({
              name: span.name,
              trace: hex(span.traceId),
              id: hex(span.spanId),
              parent: hex(span.parentSpanId),
            });
          }
      stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 0]));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

beforeAll(async () => {
  database = await createTestDatabase();
  collector = await startCollector();
  const { port } = collector.address() as AddressInfo;
  const file = join(mkdtempSync(join(tmpdir(), 'pg-apiserver-tracing-')), 'tracing.yaml');
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:${port}\nsamplingRatePerMillion: 0\n`,
  );
  cluster = await startCluster(database.url, [`--tracing-config-file=${file}`]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  collector.close();
  await database.drop();
});

test("a sampled caller's trace goes on through request, verb and commit; others are not sampled", async () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const trace = '0af7651916cd43dd8448eb211c80319c';
  await cluster.request('POST', path, { metadata: { name: 'untraced' } });
  await cluster.request(
    'POST',
    path,
    { metadata: { name: 'traced' } },
    { traceparent: `00-${trace}-b7ad6b7169203331-01` },
  );
  await eventually(
    () => expect(spans.map(({ name }) => name).sort()).toEqual(['Commit', 'Create', 'KubernetesAPI']),
    15_000,
  );
  const named = (name: string): Span | undefined => spans.find((span) => span.name === name);
  expect(new Set(spans.map((span) => span.trace))).toEqual(new Set([trace]));
  expect(named('KubernetesAPI')?.parent).toBe('b7ad6b7169203331');
  expect(named('Create')?.parent).toBe(named('KubernetesAPI')?.id);
  expect(named('Commit')?.parent).toBe(named('Create')?.id);
});
