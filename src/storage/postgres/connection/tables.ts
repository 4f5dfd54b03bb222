import type { Generated } from 'kysely';

/** The tables of migrations/: every column is read as text (statements.ts), and written as text too. */
export interface Schema {
  readonly revisions: RevisionsTable;
  readonly objects: ObjectsTable;
  readonly superseded: SupersededTable;
  readonly log_bounds: LogBoundsTable;
  readonly compaction: CompactionTable;
  readonly epochs: EpochsTable;
  readonly history_place: HistoryPlaceTable;
  readonly witnesses: WitnessesTable;
  readonly allocations: AllocationsTable;
  readonly server_leases: ServerLeasesTable;
  readonly work_leases: WorkLeasesTable;
  readonly peers: PeersTable;
  readonly cluster_keys: ClusterKeysTable;
  readonly signing_keys: SigningKeysTable;
  readonly schema_migrations: SchemaMigrationsTable;
}

interface KeyColumns {
  readonly api_group: string;
  readonly resource: string;
  /** Empty for objects that are not namespaced. */
  readonly namespace: string;
  readonly name: string;
}

/** The bytes of an object: as JSON, or in another form that the media type names. All null: the log has them. */
interface BytesColumns {
  readonly object: string | null;
  readonly encoded: string | null;
  readonly media_type: string | null;
}

/** The log. */
interface RevisionsTable extends KeyColumns, BytesColumns {
  readonly revision: string;
  readonly uid: string;
  readonly verb: string;
  readonly previous_revision: string | null;
  readonly committed_at: string;
  readonly write_id: string;
  readonly expires_at: string | null;
  readonly username: string;
  readonly user_agent: string;
  readonly source_address: string;
  readonly request_id: string;
  readonly field_manager: string;
  /** The newest revision before its batch. */
  readonly follows_revision: string | null;
}

/** The live objects. The log has the bytes that are not here. */
interface ObjectsTable extends KeyColumns, BytesColumns {
  readonly revision: string;
  readonly uid: string;
  readonly expires_at: string | null;
  readonly modified_at: string;
}

/** States that the log no longer has, from `revision` to before `superseded_by`. */
interface SupersededTable extends KeyColumns, BytesColumns {
  readonly revision: string;
  readonly superseded_by: string;
  readonly uid: string;
  readonly committed_at: string;
}

/** Where the log begins and ends. One row. */
interface LogBoundsTable {
  readonly low: string;
  readonly high: string;
}

/** How far history has been cut off, and how far back it is kept. One row. */
interface CompactionTable {
  readonly revision: string;
  readonly committed_at: string;
  readonly compacted_at: string;
  readonly history_window: string | null;
}

/** Histories, each named by the revision it begins after. */
interface EpochsTable {
  readonly epoch: string;
  readonly system_id: string | null;
  readonly timeline: string | null;
  readonly began_at: string;
  readonly reason: string;
}

/** Where the log was when it was last vouched for. One row. */
interface HistoryPlaceTable {
  readonly place: string;
  readonly asked_at: string | null;
}

interface WitnessesTable {
  readonly server: string;
  readonly place: string;
  readonly renewed_at: string;
}

interface AllocationsTable extends KeyColumns {
  readonly pool: string;
  readonly value: string;
  readonly allocated_at: string;
}

interface ServerLeasesTable {
  readonly address: string;
  readonly port: string;
  readonly expires_at: string;
}

interface PeersTable {
  readonly server: string;
  readonly address: string;
  readonly port: number;
  readonly resources: string[];
  readonly expires_at: string;
}

interface WorkLeasesTable {
  readonly work: string;
  readonly holder: string;
  readonly renewals: string;
  readonly renewed_at: string;
}

interface ClusterKeysTable {
  readonly name: string;
  readonly certificate: string;
  readonly private_key: string;
  readonly made_at: Generated<string>;
}

interface SigningKeysTable {
  readonly id: Generated<string>;
  readonly private_key: string;
  readonly made_at: Generated<string>;
  readonly signs_from: string;
}

interface SchemaMigrationsTable {
  readonly id: string;
  readonly name: string;
  readonly checksum: string;
  readonly applied_at: Generated<string>;
  readonly beside: string | null;
}
