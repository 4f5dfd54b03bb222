import { cpuSeconds, memoryOf, resetPeaks } from './proc.ts';

/** The processes that are measured, each with all its children. Empty: not known, and reported as unknown. */
export interface Measured {
  readonly server: readonly number[];
  readonly database: readonly number[];
}

export interface Usage {
  readonly seconds: number;
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly peakBytes: number;
}

/** Begins to measure; what is returned tells what was used since. */
export function startUsage({ server, database }: Measured): () => Usage {
  resetPeaks(server);
  const startedAt = performance.now();
  const serverBefore = cpuSeconds(server);
  const databaseBefore = cpuSeconds(database);
  return () => ({
    seconds: (performance.now() - startedAt) / 1000,
    serverCpu: server.length === 0 ? Number.NaN : cpuSeconds(server) - serverBefore,
    databaseCpu: database.length === 0 ? Number.NaN : cpuSeconds(database) - databaseBefore,
    peakBytes: server.length === 0 ? Number.NaN : memoryOf(server).peakBytes,
  });
}
