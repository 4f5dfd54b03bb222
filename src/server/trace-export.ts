import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import type { ObservabilityOptions } from '../options/observability.ts';
import type { Dial } from '../outbound/egress/dial.ts';
import { openDialledSocket } from '../outbound/egress/dialled-socket.ts';
import { VERSION } from '../version.ts';

/** The exporter takes a quarter of a second to load, so it is loaded for tracing alone. `dial`: the way to the collector. */
export async function openTracing(
  { tracing }: ObservabilityOptions,
  dial: Dial | undefined,
): Promise<Tracing> {
  if (tracing === undefined) return NO_TRACING;
  const { createTracing } = await import('../observability/otlp-tracing.ts');
  const options = { ...tracing, version: VERSION.gitVersion };
  if (dial === undefined) return createTracing(options);
  const colon = tracing.endpoint.lastIndexOf(':');
  const host = tracing.endpoint.slice(0, colon).replace(/^\[|\]$/g, '');
  const socket = await openDialledSocket(dial, host, Number(tracing.endpoint.slice(colon + 1)));
  const dialled = createTracing({ ...options, endpoint: socket.path });
  return {
    ...dialled,
    close: async () => {
      await dialled.close();
      socket.close();
    },
  };
}
