/** Owns the operator rows about contract documents: handing one in, and seeing what was read of it. */
import {
  AnalysisParams,
  ContractAnalysisView,
  ContractDocumentForm,
  contractDocumentBytesMax,
  contractDocumentPagesMax,
  pictureMegapixelsMax,
  scanMegapixelsMax,
  scannedPagesMax,
} from "../../../schemas/contract-analysis.ts";
import type { Route } from "../../route.ts";

export const contractDocumentRoutes = [
  {
    id: "analyzeContract",
    surface: "operator",
    method: "post",
    path: "/contracts/analyze-pdf",
    prefixes: ["/v1"],
    summary: "Extract terms from a PDF or image",
    description: `Takes a contract in English, Spanish or Portuguese and reads it in its own time: the answer is the analysis, to be asked for until it is READY or REFUSED. A PDF has at most ${contractDocumentPagesMax} pages, of which ${scannedPagesMax} may be scans of ${scanMegapixelsMax} million dots each; a picture (PNG, JPEG, TIFF) at most ${pictureMegapixelsMax} million dots. Locked, broken and oversized documents are refused, and those with scripts or files in them. What is found says where it stands and how certain it is; what isn't plain is listed in \`unclear\` and not guessed. None of it has an effect until somebody sends it to \`POST /v1/contracts\` with \`analysisUrn\`. The document itself is kept until it has been read, a day at most.`,
    role: "OPS_SUPERVISOR",
    rate: "write",
    form: {
      fields: ContractDocumentForm,
      file: {
        description:
          "The document, with a file name that ends in what its first bytes show (.pdf, .png, .jpg, .jpeg, .tif, .tiff), or in nothing.",
        bytesMax: contractDocumentBytesMax,
      },
    },
    handler: "analyzeContract",
    success: 202,
    response: ContractAnalysisView,
    problems: ["conflict/concurrent-write", "upstream/unavailable"],
  },
  {
    id: "getContractAnalysis",
    surface: "operator",
    method: "get",
    path: "/contracts/analyses/{analysisUrn}",
    prefixes: ["/v1"],
    summary: "See what was read of a contract document",
    description: "How far the reading is, then what was found, or why nothing was read.",
    role: "OPS_SUPERVISOR",
    rate: "read",
    params: AnalysisParams,
    query: "contract.analysis",
    success: 200,
    response: ContractAnalysisView,
    problems: ["auth/foreign-airport"],
  },
] as const satisfies readonly Route[];
