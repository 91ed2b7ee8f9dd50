// A night as a partner follows it and writes to it: what is read and what never is, who comes late, who goes first, who is written to.
import t from "tap";
import { takesLong } from "../harness/patience.ts";
import { partnerFeed } from "./partner-feed.ts";
import { startPartnerNight } from "./partner-night.ts";
import { partnerNotes } from "./partner-notes.ts";
import { partnerReads } from "./partner-reads.ts";
import { partnerWrites } from "./partner-writes.ts";
import { passengerSheets } from "./passenger-sheets.ts";

takesLong(t);
const night = await startPartnerNight(t);
partnerReads(t, night);
partnerWrites(t, night);
passengerSheets(t, night);
partnerNotes(t, night);
partnerFeed(t, night);
