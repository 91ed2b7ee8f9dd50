// A group that needs a room, for tests: two in economy for one night, of which each test says what it is about.
import type { GroupNeed } from "../../schemas/allocation.ts";

export const group = (groupId: string, more: Partial<GroupNeed> = {}): GroupNeed => ({
  groupId,
  subCaseId: `XN-SUB-${groupId}`,
  tier: "ECONOMY",
  passengers: 2,
  rooms: 1,
  nights: 1,
  checkIn: "2026-11-21",
  checkOut: "2026-11-22",
  needs: [],
  ...more,
});
