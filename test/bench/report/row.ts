/** One line of the report. What is not known or does not apply is left out. */
export interface Row {
  readonly scenario: string;
  readonly status: 'ok' | 'failed' | 'not supported';
  /** What is counted: requests unless it says otherwise. */
  readonly unit?: string;
  readonly count?: number;
  readonly rate?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly firstByteP50Ms?: number;
  readonly serverCpuPer1000?: number;
  readonly databaseCpuPer1000?: number;
  readonly peakBytes?: number;
  readonly limit?: Limit;
  /** Cores the load generator used. */
  readonly loadCores?: number;
  readonly saturated?: boolean;
  /** Further facts, by name. */
  readonly facts?: Readonly<Record<string, number>>;
  readonly note?: string;
}

export interface Limit {
  readonly what: string;
  readonly rate: number;
  /** CPU seconds of the process under load, for 1,000 of the same. */
  readonly cpuPer1000: number;
  /** Cores the load generator used for it. Near 1 the limit is higher than what was measured. */
  readonly loadCores?: number;
  /** The scenario's rate divided by the limit's. */
  readonly share: number;
  /** The limit's CPU divided by that of server and database: what the share would be if the generator cost nothing. */
  readonly cpuShare: number;
}
