import type { EncryptionMetrics } from '../../src/storage/encryption/encryption-metrics.ts';

type Labelled = readonly [labels: Readonly<Record<string, string | number>>, value: number];

/** Looks up what a metric has counted, by the name of its samples. */
export const samplesOf =
  ({ instruments }: EncryptionMetrics) =>
  (name: string): Labelled[] =>
    instruments
      .flatMap((instrument) => instrument.collect().samples)
      .filter((sample) => sample.name === name)
      .map(({ labels, value }) => [labels, value] as const);
