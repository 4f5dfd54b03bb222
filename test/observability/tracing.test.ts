import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { createTracing } from '../../src/observability/otlp-tracing.ts';
import type { Tracing } from '../../src/observability/tracing.ts';

function record(samplingRatePerMillion: number | undefined) {
  const exporter = new InMemorySpanExporter();
  const processor = new SimpleSpanProcessor({ exporter });
  const tracing = createTracing({ endpoint: 'unused:1', samplingRatePerMillion, version: 'test', processor });
  return { tracing, names: () => exporter.getFinishedSpans().map(({ name }) => name) };
}

const ask = (tracing: Tracing, traceparent?: string): Promise<void> =>
  tracing.request({ name: 'request', traceparent, attributes: {} }, () =>
    tracing.part('verb', {}, async () => {
      await Promise.resolve();
      await tracing.part('commit', {}, async () => {});
    }),
  );

test('every trace is sampled at a million in a million, none without a rate', async () => {
  const all = record(1_000_000);
  await ask(all.tracing);
  expect(all.names()).toEqual(['commit', 'verb', 'request']);
  const none = record(undefined);
  await ask(none.tracing);
  expect(none.names()).toEqual([]);
});

test('a caller decides about its own trace; an invalid traceparent is ignored', async () => {
  const { tracing, names } = record(undefined);
  const trace = '0af7651916cd43dd8448eb211c80319c';
  await ask(tracing, `00-${trace}-b7ad6b7169203331-00`);
  await ask(tracing, `00-${'0'.repeat(32)}-b7ad6b7169203331-01`);
  await ask(tracing, 'rubbish');
  expect(names()).toEqual([]);
  await ask(tracing, `00-${trace}-b7ad6b7169203331-01`);
  expect(names()).toHaveLength(3);
});

test('an error ends its span and goes on', async () => {
  const { tracing, names } = record(1_000_000);
  const failing = tracing.request({ name: 'request', traceparent: undefined, attributes: {} }, async () => {
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(names()).toEqual(['request']);
});

test('a part knows its name for other servers, and notes what happens, where it is sampled', async () => {
  const seen: (string | undefined)[] = [];
  for (const rate of [1_000_000, undefined]) {
    const { tracing } = record(rate);
    await tracing.request({ name: 'request', traceparent: undefined, attributes: {} }, () =>
      tracing.part('call', {}, async (span) => {
        span.event('sent');
        seen.push(span.traceparent);
      }),
    );
  }
  expect(seen).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/), undefined]);
});
