// The work as a file of any format, and what that format cannot hold.
import { download } from "../shared/api";
import { tell, tellError } from "../shared/Notices";
import { allSaved } from "./sync/saving";

export const exportPath = (format: string) => `/api/export?format=${encodeURIComponent(format)}`;

export async function exportAs(format: string): Promise<void> {
  try {
    await allSaved();
    for (const lost of await download(exportPath(format))) tell(lost);
  } catch (error) {
    tellError(error);
  }
}
