import { EXPOSITION_TYPE } from '../observability/exposition.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type PageHandler, plainText } from './answers.ts';

/** /metrics. */
export const createMetricPages =
  (metrics: Metrics): PageHandler =>
  async ({ method, path }) => {
    if (path !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) return undefined;
    return plainText(200, await metrics.text(), EXPOSITION_TYPE);
  };
