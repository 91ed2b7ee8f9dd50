/** Owns telling an outage of our own servers from a fault of the message or request at hand. */

const documentErrors =
  /^(Mongo(Network|NetworkTimeout|ServerSelection|PoolCleared|NotConnected|TopologyClosed|WaitQueueTimeout)|PoolClearedOnNetwork)Error$/;
const streamErrors =
  /^((Timeout|Connection|ClosedConnection|DrainingConnection|Request)Error|BucketContentionError|NoResponders|JetStreamNotEnabled)$/;
/** With a status of 5xx it is the server's own trouble: no leader, no quorum, no room. */
const streamAnswers = /^JetStream(Api|Status)Error$/;

/**
 * Which of our servers is away; undefined when the error says no such thing. By name, since the drivers' classes come in
 * several copies.
 */
export const outageOf = (error: unknown): "documents" | "streams" | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (documentErrors.test(error.name)) return "documents";
  if (streamErrors.test(error.name)) return "streams";
  return streamAnswers.test(error.name) && statusOf(error) >= 500 ? "streams" : undefined;
};

/** An API error keeps its status apart from JetStream's own code; a status error has it as its code. */
const statusOf = (error: Error & { status?: unknown; code?: unknown }): number =>
  Number(error.status ?? error.code);
