import { Hono } from 'hono';
import type { LogControl } from '../observability/logger.ts';
import { EXPOSITION_TYPE, type Metrics } from '../observability/metrics.ts';
import { plainText } from '../pages/pages.ts';

/** /metrics. */
export const createMetricPages = (metrics: Metrics): Hono =>
  new Hono().get('/metrics', async () => plainText(200, await metrics.text(), EXPOSITION_TYPE));

/** /debug/flags/v: PUT a number to set the verbosity of the log. */
export function createFlagPages(logger: LogControl): Hono {
  const list = (): Response => plainText(200, `v\t${logger.verbosity}\n`);
  return new Hono()
    .all('/debug/flags', list)
    .all('/debug/flags/', list)
    .put('/debug/flags/v', async ({ req }) => {
      const text = (await req.text()).trim();
      if (!/^\d{1,3}$/.test(text)) return plainText(400, `${JSON.stringify(text)} is not a whole number\n`);
      logger.setVerbosity(Number(text));
      return plainText(200, `successfully set klog.logging.verbosity to ${text}\n`);
    })
    .all('/debug/flags/v', () => plainText(406, 'unsupported http method\n'));
}
