/** WorkLease is the record of a piece of work that one server does at a time. */
export interface WorkLease {
  /** '' when it has no holder. */
  readonly holder: string;
  /** Rises with every act of a holder. Unchanged for long: the holder is gone. */
  readonly renewals: bigint;
}

/** WorkLeases records which server does what. It is stored with the objects, which servers share. */
export interface WorkLeases {
  /** Returns undefined when it never had a holder. */
  read(work: string): Promise<WorkLease | undefined>;
  /** Takes the work, if its lease is still `seen`. False: another was faster, or the holder lives. */
  take(work: string, holder: string, seen: WorkLease | undefined): Promise<boolean>;
  /** Renews the lease. False: the holder has lost it. */
  renew(work: string, holder: string): Promise<boolean>;
  /** Frees the work. Does nothing for a server that does not hold it. */
  release(work: string, holder: string): Promise<void>;
}
