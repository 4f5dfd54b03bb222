/** What the store knows of a piece of work that one server does at a time. */
export interface WorkLease {
  /** '' when nobody holds it. */
  readonly holder: string;
  /** Rises with everything that holders do. The same number for a long time: the holder is gone. */
  readonly renewals: bigint;
}

/** Which server does what. Implemented where the objects are stored, because that is what servers share. */
export interface WorkLeases {
  /** Undefined when nobody ever held it. */
  read(work: string): Promise<WorkLease | undefined>;
  /** Takes it over, if it still is what was seen. False: another was faster, or the holder lives. */
  take(work: string, holder: string, seen: WorkLease | undefined): Promise<boolean>;
  /** Says that the holder lives. False: it does not hold the work any more. */
  renew(work: string, holder: string): Promise<boolean>;
  /** Leaves the work to whoever comes first. Does nothing for one who does not hold it. */
  release(work: string, holder: string): Promise<void>;
}
