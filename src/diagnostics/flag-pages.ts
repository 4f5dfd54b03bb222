import { Hono } from 'hono';
import type { LogControl } from '../observability/logger.ts';
import { plainText } from '../pages/plain-text.ts';

/** /debug/flags/v: PUT a number, and the log is that verbose from now on. */
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
