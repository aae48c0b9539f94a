"""What the paper prints: "An Empirical Study on Feature Discretization", Liu, Liu and Zhang. Nothing is computed here.

Table 1 is AUC x 100, Table 2 counts model parameters; columns are shares of the training rows.
"""

DATA_SETS = ("HIGGS", "SUSY")
SHARES = (1.0, 0.1, 0.01)
TRAINING_ROWS = {"HIGGS": 10_500_000, "SUSY": 4_500_000}
TEST_ROWS = 500_000
COLUMNS = {"HIGGS": 28, "SUSY": 18}

Key = tuple[str, str, str, float]  # model, row, data set, share

_ROWS = """
LR  | CD (5)    | 74.99 75    74.93 | 85.85 85.84 85.62
LR  | CD (10)   | 76.42 76.18 76.26 | 86.69 86.57 85.96
LR  | CD (100)  | 77.29 77.26 75.84 | 87.06 86.17 83.72
LR  | MGD       | 77.32 77.29 76.48 | 87.08 86.71 85.78
LR  | LLE (5)   | 77.07 77.05 76.95 | 86.77 86.47 85.98
LR  | LLE (10)  | 77.42 77.38 77.21 | 87.13 86.83 86.18
LR  | LLE (100) | 77.46 77.31 75.89 | 87.08 86.23 83.96
DNN | CD (5)    | 79.42 78.9  77.92 | 86.68 86.08 85.75
DNN | CD (10)   | 81.67 81.07 79.49 | 87.28 86.77 82.49
DNN | CD (100)  | 82.59 81.09 76.93 | 87.41 77.25 82.47
DNN | MGD       | 82.76 81.31 79.68 | 87.43 86.66 84.95
DNN | LLE (5)   | 82.68 82.16 80.43 | 87.53 86.83 86.23
DNN | LLE (10)  | 82.87 82.24 80.35 | 87.58 87.08 86.62
DNN | LLE (100) | 82.82 81.39 77.21 | 87.46 78.62 82.61
"""


def _table_1() -> dict[Key, float]:
    cells = {}
    for line in _ROWS.strip().splitlines():
        model, row, *numbers = (part.strip() for part in line.split("|"))
        for data, of_data in zip(DATA_SETS, numbers, strict=True):
            for share, auc in zip(SHARES, of_data.split(), strict=True):
                cells[model, row, data, share] = float(auc)
    return cells


TABLE_1 = _table_1()
TABLE_2 = {
    ("MGD", "HIGGS"): (162560, 148140, 141680),
    ("MGD", "SUSY"): (116820, 41580, 21690),
    ("LLE", "HIGGS"): (308, 308, 168),
    ("LLE", "SUSY"): (198, 198, 198),
}
