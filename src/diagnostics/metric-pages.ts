import { Hono } from 'hono';
import { EXPOSITION_TYPE } from '../observability/exposition.ts';
import type { Metrics } from '../observability/metrics.ts';
import { plainText } from '../pages/plain-text.ts';

/** /metrics. */
export const createMetricPages = (metrics: Metrics): Hono =>
  new Hono().get('/metrics', async () => plainText(200, await metrics.text(), EXPOSITION_TYPE));
